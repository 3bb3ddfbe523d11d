extern "C" {
#include "app/viewer/panel.h"
}

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <imgui.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

bool panel_create(GLFWwindow *window) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr; // no file is left behind
  ImGui::StyleColorsDark();
  ImGuiStyle &style = ImGui::GetStyle();
  style.WindowRounding = 4;
  style.FrameRounding = 3;
  style.Colors[ImGuiCol_WindowBg].w = 0.86f;
  return ImGui_ImplGlfw_InitForOpenGL(window, true) && ImGui_ImplOpenGL3_Init("#version 330 core");
}

void panel_destroy(void) {
  if (!ImGui::GetCurrentContext()) return;
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

bool panel_takes_mouse(void) { return ImGui::GetCurrentContext() && ImGui::GetIO().WantCaptureMouse; }
bool panel_takes_keys(void) { return ImGui::GetCurrentContext() && ImGui::GetIO().WantTextInput; }

namespace {

// Cuts off what does not fit: paths of the scene are far shorter.
template <size_t size> void print_to(char (&text)[size], const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(text, size, format, list);
  va_end(list);
}

void help_of(const char *text) {
  if (ImGui::IsItemHovered() && text && *text) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(360);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
}

void faint(const char *text) {
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
  ImGui::TextWrapped("%s", text);
  ImGui::PopStyleColor();
}

// ---- running ----

void draw_running(Panel &panel) {
  const SimulationReport &report = *panel.report;
  if (ImGui::Button(panel.paused ? "Run (space)" : "Pause (space)")) panel.paused = !panel.paused;
  ImGui::SameLine();
  if (ImGui::Button("Step (N)")) panel.wants_step = true;
  ImGui::SameLine();
  if (ImGui::Button("Reset (R)")) panel.wants_reset = true;
  const char *const names[] = {"1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8", "unlimited"};
  const double speeds[] = {1 / 16.0, 1 / 8.0, 1 / 4.0, 1 / 2.0, 1, 2, 4, 8, 0};
  int at = 8;
  for (int k = 0; k < 8; k++)
    if (panel.speed == speeds[k]) at = k;
  if (ImGui::Combo("speed (- +)", &at, names, 9)) panel.speed = speeds[at];
  help_of("simulated seconds a second; a simulation that cannot keep up runs slower");
  ImGui::Text("t = %.3f s   frame %lld   %lld steps", report.time, (long long)report.frame, (long long)report.steps);
  ImGui::Text("%lld particles, %lld fine grains", (long long)report.coarse, (long long)report.grains);
  ImGui::Text("simulation %.1f ms a frame, drawing %.1f ms", report.frame_ms, panel.draw_ms);
  if (!report.ready && !report.failed)
    ImGui::TextColored(ImVec4(1, 0.8f, 0.4f, 1), "%s: %.0f %%", report.preparing ? report.preparing : "reading the scene",
                       100 * report.prepared);
  if (report.message[0]) ImGui::TextWrapped("%s", report.message);
  if (panel.message && *panel.message) ImGui::TextWrapped("%s", panel.message);
}

void draw_choosers(Panel &panel) {
  if (ImGui::BeginCombo("scene", panel.scene_name)) {
    for (int k = 0; k < panel.scenes->count; k++)
      if (ImGui::Selectable(panel.scenes->names[k], strcmp(panel.scenes->names[k], panel.scene_name) == 0))
        panel.wants_scene = k;
    ImGui::EndCombo();
  }
  const char *method = panel.definition ? panel.definition->method.name : "";
  if (ImGui::BeginCombo("method", method)) {
    for (int32_t k = 0; k < scree_method_count(); k++) {
      const ScreeMethodInfo *info = scree_method_info(k);
      if (ImGui::Selectable(info->name, strcmp(info->name, method) == 0)) panel.wants_method = info->name;
      help_of(info->summary);
    }
    ImGui::EndCombo();
  }
}

void draw_look(Panel &panel) {
  RenderSettings &settings = *panel.settings;
  if (ImGui::BeginCombo("colour (C)", render_color_name(settings.color))) {
    for (int k = 0; k < RENDER_COLOR_COUNT; k++)
      if (ImGui::Selectable(render_color_name((RenderColor)k), k == (int)settings.color))
        settings.color = (RenderColor)k;
    ImGui::EndCombo();
  }
  ImGui::Checkbox("fine grains (F)", &panel.fine);
  ImGui::SameLine();
  ImGui::Checkbox("shadows", &settings.shadows);
  ImGui::SameLine();
  ImGui::Checkbox("occlusion", &settings.occlusion);
  ImGui::Checkbox("half resolution", &panel.half);
  help_of("draws a quarter of the pixels: for machines without a graphics card");
  if (ImGui::Button("Home (Home)")) panel.wants_home = true;
  ImGui::SameLine();
  if (ImGui::Button("Picture (P)")) panel.wants_picture = true;
  ImGui::SameLine();
  if (ImGui::Button(panel.recording ? "Stop film (V)" : "Film (V)")) panel.wants_record = true;
}

void draw_acts(Panel &panel) {
  float radius = (float)panel.blast_radius, speed = (float)panel.blast_speed;
  if (ImGui::SliderFloat("blast radius (m)", &radius, 0.01f, 2, "%.3f", ImGuiSliderFlags_Logarithmic))
    panel.blast_radius = radius;
  if (ImGui::SliderFloat("blast speed (m/s)", &speed, 0.1f, 50, "%.1f", ImGuiSliderFlags_Logarithmic))
    panel.blast_speed = speed;
  if (ImGui::Button("Blow up (B)")) panel.wants_blast = true;
  help_of("an outward impulse in a sphere round the point under the cursor; the key B does it where the cursor is");
  static const char *const objects[] = {
#define OBJECT_WORD(constant, word) word,
      SIMULATION_OBJECTS(OBJECT_WORD)
#undef OBJECT_WORD
  };
  float size = (float)panel.drop_size, density = (float)panel.drop_density;
  ImGui::Combo("object", &panel.drop_object, objects, OBJECT_COUNT);
  if (ImGui::SliderFloat("its size (m)", &size, 0.01f, 2, "%.3f", ImGuiSliderFlags_Logarithmic)) panel.drop_size = size;
  if (ImGui::SliderFloat("density (kg/m^3)", &density, 100, 20000, "%.0f", ImGuiSliderFlags_Logarithmic))
    panel.drop_density = density;
  if (ImGui::Button("Drop it (G)")) panel.wants_drop = true;
  help_of("a new body above the point in the middle of the window; the key G does it where the cursor is");
}

void draw_machine(Panel &panel) {
  const SimulationReport &report = *panel.report;
  if (report.control_count == 0 && !report.tool[0]) return;
  if (!ImGui::CollapsingHeader("Machine", ImGuiTreeNodeFlags_DefaultOpen)) return;
  for (int32_t k = 0; k < report.control_count; k++) {
    const SimulationControl &control = report.controls[k];
    float value = (float)control.value;
    if (ImGui::SliderFloat(control.name, &value, (float)control.low, (float)control.high)) {
      panel.control = k;
      panel.control_value = value;
    }
  }
  faint("arrows: swing, boom, or drive, steer; U J: stick, bed; I K: bucket; O L , .: tracks; or a gamepad");
  if (report.tool[0]) {
    const ScreeVec3 &f = report.tool_force;
    ImGui::Text("force on %s: %.0f N", report.tool, std::sqrt(f.x * f.x + f.y * f.y + f.z * f.z));
    ImGui::Text("  x %.0f   y %.0f   z %.0f", f.x, f.y, f.z);
    ImGui::PlotLines("N", panel.history->tool, panel.history->count, panel.history->begin, nullptr, 0, FLT_MAX,
                     ImVec2(0, 40));
  }
}

// ---- plots ----

void plot(const char *name, const char *unit, const float *values, const History &history) {
  int newest = (history.begin + history.count - 1 + HISTORY_LENGTH) % HISTORY_LENGTH;
  char text[96];
  print_to(text, "%.4g %s", history.count ? (double)values[newest] : 0.0, unit);
  ImGui::PushID(name);
  ImGui::PlotLines("", values, history.count, history.count == HISTORY_LENGTH ? history.begin : 0, text, FLT_MAX,
                   FLT_MAX, ImVec2(170, 34));
  ImGui::SameLine();
  ImGui::TextUnformatted(name);
  ImGui::PopID();
}

void draw_plots(Panel &panel) {
  const History &history = *panel.history;
  if (ImGui::CollapsingHeader("Energy and time", ImGuiTreeNodeFlags_DefaultOpen)) {
    plot("kinetic", "J", history.kinetic, history);
    plot("potential", "J", history.potential, history);
    plot("frame", "ms", history.frame_ms, history);
    plot("drawing", "ms", history.draw_ms, history);
  }
  if (ImGui::CollapsingHeader("Phases (ms a step)"))
    for (int32_t k = 0; k < panel.report->phase_count; k++)
      plot(panel.report->phases[k].name, "ms", history.phases[k], history);
  if (panel.report->probe_count && ImGui::CollapsingHeader("Probes"))
    for (int32_t k = 0; k < panel.report->probe_count; k++)
      plot(panel.report->probes[k].name, panel.report->probes[k].unit, history.probes[k], history);
}

// ---- parameters ----

const char *edit_of(const Edits &edits, const char *path) {
  for (int k = 0; k < edits.count; k++)
    if (strcmp(edits.paths[k], path) == 0) return edits.values[k];
  return nullptr;
}

void edit_set(Edits &edits, const char *path, const char *value) {
  int k = 0;
  while (k < edits.count && strcmp(edits.paths[k], path) != 0) k++;
  if (k == EDITS_MOST) return;
  if (k == edits.count) print_to(edits.paths[edits.count++], "%s", path);
  print_to(edits.values[k], "%s", value);
}

// Numbers of a value: from the edit "[a, b, c]" where there is one, else from the definition.
void numbers_of(const char *edited, const double *from, int count, double *to) {
  memcpy(to, from, (size_t)count * sizeof(double));
  if (!edited) return;
  const char *at = edited;
  for (int k = 0; k < count && *at; k++) {
    at += strspn(at, "[, ");
    char *end;
    double value = strtod(at, &end);
    if (end == at) return;
    to[k] = value;
    at = end;
  }
}

// `a`, or `[a, b, c]`, each within the legal range.
void edit_numbers(Edits &edits, const ScreeParameter &row, const char *path, const double *values, int count) {
  char text[EDIT_TEXT] = "";
  for (int k = 0; k < count; k++) {
    double value = values[k] < row.low ? row.low : values[k] > row.high ? row.high : values[k];
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%.9g", k ? ", " : count > 1 ? "[" : "", value);
  }
  if (count > 1) strncat(text, "]", sizeof text - strlen(text) - 1);
  edit_set(edits, path, text);
}

void draw_numbers(Edits &edits, const ScreeParameter &row, const char *path, const char *label, const double *from,
                  int count) {
  double values[4];
  const char *edited = edit_of(edits, path);
  numbers_of(edited, from, count, values);
  bool automatic = edited ? strcmp(edited, "auto") == 0 : std::isnan(values[0]);
  if (strcmp(row.default_text, "auto") == 0) {
    if (ImGui::Checkbox("auto", &automatic)) {
      double begin = row.usual_low > 0 ? row.usual_low : row.low, all[4] = {begin, begin, begin, begin};
      if (automatic) edit_set(edits, path, "auto");
      else edit_numbers(edits, row, path, all, count);
    }
    ImGui::SameLine();
  }
  if (automatic) {
    ImGui::TextUnformatted(label);
    return;
  }
  bool changed;
  if (count == 3 && strcmp(row.name, "color") == 0) {
    float shown[3] = {(float)values[0], (float)values[1], (float)values[2]};
    changed = ImGui::ColorEdit3(label, shown);
    for (int k = 0; k < 3; k++) values[k] = (double)shown[k];
  } else {
    changed = ImGui::InputScalarN(label, ImGuiDataType_Double, values, count, nullptr, nullptr, "%.6g",
                                  ImGuiInputTextFlags_EnterReturnsTrue);
  }
  if (changed) edit_numbers(edits, row, path, values, count);
}

void draw_choice(Edits &edits, const ScreeParameter &row, const char *path, const char *label, int index) {
  const char *edited = edit_of(edits, path);
  char words[32][32];
  int count = 0;
  for (const char *at = row.unit; at && *at && count < 32; count++) {
    size_t length = strcspn(at, "|");
    print_to(words[count], "%.*s", (int)length, at);
    at += length + (at[length] == '|');
  }
  for (int k = 0; edited && k < count; k++)
    if (strcmp(edited, words[k]) == 0) index = k;
  if (!ImGui::BeginCombo(label, index >= 0 && index < count ? words[index] : "")) return;
  for (int k = 0; k < count; k++)
    if (ImGui::Selectable(words[k], k == index)) edit_set(edits, path, words[k]);
  ImGui::EndCombo();
}

void draw_text(Edits &edits, const char *path, const char *label, const char *value) {
  const char *edited = edit_of(edits, path);
  char text[EDIT_TEXT];
  print_to(text, "%s", edited ? edited : value ? value : "");
  if (ImGui::InputText(label, text, sizeof text, ImGuiInputTextFlags_EnterReturnsTrue)) edit_set(edits, path, text);
}

void draw_parameter(Edits &edits, const ScreeParameter &row, const char *prefix, const void *base) {
  char path[EDIT_TEXT], label[EDIT_TEXT];
  const char *at = static_cast<const char *>(base) + row.offset;
  print_to(path, "%s%s", prefix, row.name);
  bool has_unit = row.kind != SCREE_KIND_CHOICE && row.unit[0];
  print_to(label, "%s%s%s%s", row.name, has_unit ? " (" : "", has_unit ? row.unit : "", has_unit ? ")" : "");
  ImGui::PushID(path);
  bool changed = edit_of(edits, path) != nullptr;
  if (changed) ImGui::PushStyleColor(ImGuiCol_Text, ImVec4(1, 0.85f, 0.4f, 1));
  switch (row.kind) {
  case SCREE_KIND_REAL: draw_numbers(edits, row, path, label, reinterpret_cast<const double *>(at), 1); break;
  case SCREE_KIND_VEC2: draw_numbers(edits, row, path, label, reinterpret_cast<const double *>(at), 2); break;
  case SCREE_KIND_VEC3: draw_numbers(edits, row, path, label, reinterpret_cast<const double *>(at), 3); break;
  case SCREE_KIND_QUAT: draw_numbers(edits, row, path, label, reinterpret_cast<const double *>(at), 4); break;
  case SCREE_KIND_INT: {
    int64_t whole = *reinterpret_cast<const int64_t *>(at);
    double value = whole < 0 && strcmp(row.default_text, "auto") == 0 ? NAN : (double)whole;
    draw_numbers(edits, row, path, label, &value, 1);
    break;
  }
  case SCREE_KIND_BOOL: {
    const char *edited = edit_of(edits, path);
    bool value = edited ? strcmp(edited, "true") == 0 : *reinterpret_cast<const bool *>(at);
    if (ImGui::Checkbox(label, &value)) edit_set(edits, path, value ? "true" : "false");
    break;
  }
  case SCREE_KIND_CHOICE: draw_choice(edits, row, path, label, *reinterpret_cast<const int *>(at)); break;
  default: draw_text(edits, path, label, *reinterpret_cast<const char *const *>(at)); break;
  }
  if (changed) ImGui::PopStyleColor();
  char help[400], readers[200];
  scree_parameter_readers(&row, readers, sizeof readers);
  print_to(help, "%s\n%s%s%s", row.help, path, readers[0] ? "; read by " : "", readers);
  help_of(help);
  ImGui::PopID();
}

void draw_section(Edits &edits, const char *section, const char *prefix, const void *base) {
  for (int32_t k = 0; k < scree_parameter_count(); k++)
    if (strcmp(scree_parameter(k)->section, section) == 0) draw_parameter(edits, *scree_parameter(k), prefix, base);
}

#define SHAPE_SECTION(id, word, ...) {SCREE_SHAPE_##id, #word},
void draw_shape(Edits &edits, const char *prefix, const ScreeShapeDef &shape, bool placed, bool centered) {
  static const struct {
    ScreeShapeKind kind;
    const char *section;
  } kinds[] = {SCREE_SHAPES(SHAPE_SECTION)};
  if (placed) draw_section(edits, "placement", prefix, &shape);
  for (const auto &kind : kinds) {
    if (kind.kind != shape.kind) continue;
    if (centered && shape.kind == SCREE_SHAPE_BOX) {
      // A body's box is written by its size.
      ScreeVec3 size = {shape.box.max.x - shape.box.min.x, shape.box.max.y - shape.box.min.y,
                        shape.box.max.z - shape.box.min.z};
      char path[EDIT_TEXT];
      print_to(path, "%sbox.size", prefix);
      ScreeParameter row = {"sized_box", "size", SCREE_KIND_VEC3, "", 1e-6, 1e6, 1e-3, 1e3, "m", "", "edge lengths", 0};
      ImGui::PushID(path);
      draw_numbers(edits, row, path, "size (m)", &size.x, 3);
      ImGui::PopID();
      continue;
    }
    char inner[EDIT_TEXT];
    print_to(inner, "%s%s.", prefix, kind.section);
    draw_section(edits, kind.section, inner, &shape.box); // the shapes share one place
  }
}

// The label may be a path that ends in a dot, as `materials.sand.` does.
template <typename Draw> void draw_group(const char *label, Draw draw) {
  size_t length = strlen(label);
  if (length && label[length - 1] == '.') length--;
  if (!ImGui::TreeNode(label, "%.*s", (int)length, label)) return;
  draw();
  ImGui::TreePop();
}

void draw_keys(Edits &edits, const char *prefix, const ScreeKeyDef *keys, int32_t count) {
  for (int32_t k = 0; k < count; k++) {
    char inner[EDIT_TEXT];
    print_to(inner, "%skeys[%d].", prefix, k);
    draw_group(inner, [&] { draw_section(edits, "key", inner, &keys[k]); });
  }
}

void draw_lists(Edits &edits, const ScreeSceneDef &scene) {
  char prefix[EDIT_TEXT], inner[EDIT_TEXT];
  for (int32_t k = 0; k < scene.material_count; k++) {
    print_to(prefix, "materials.%s.", scene.materials[k].name);
    draw_group(prefix, [&] { draw_section(edits, "material", prefix, &scene.materials[k]); });
  }
  for (int32_t k = 0; k < scene.grains_count; k++) {
    print_to(prefix, "grains[%d].", k);
    print_to(inner, "grains[%d].fill.", k);
    draw_group(prefix, [&] {
      draw_section(edits, "grains", prefix, &scene.grains[k]);
      draw_shape(edits, inner, scene.grains[k].fill, scene.grains[k].fill.kind == SCREE_SHAPE_MESH, false);
    });
  }
  for (int32_t k = 0; k < scene.emitter_count; k++) {
    print_to(prefix, "emitters[%d].", k);
    draw_group(prefix, [&] {
      draw_section(edits, "emitter", prefix, &scene.emitters[k]);
      draw_shape(edits, prefix, scene.emitters[k].shape, false, false);
    });
  }
  for (int32_t k = 0; k < scene.sink_count; k++) {
    print_to(prefix, "sinks[%d].", k);
    draw_group(prefix, [&] { draw_shape(edits, prefix, scene.sinks[k].shape, false, false); });
  }
  for (int32_t k = 0; k < scene.boundary_count; k++) {
    print_to(prefix, "boundaries[%d].", k);
    draw_group(prefix, [&] {
      draw_section(edits, "boundary", prefix, &scene.boundaries[k]);
      draw_shape(edits, prefix, scene.boundaries[k].shape, true, false);
      draw_keys(edits, prefix, scene.boundaries[k].keys, scene.boundaries[k].key_count);
    });
  }
  for (int32_t k = 0; k < scene.body_count; k++) {
    print_to(prefix, "bodies[%d].", k);
    draw_group(prefix, [&] {
      draw_section(edits, "body", prefix, &scene.bodies[k]);
      draw_shape(edits, prefix, scene.bodies[k].shape, true, true);
      draw_keys(edits, prefix, scene.bodies[k].keys, scene.bodies[k].key_count);
    });
  }
  for (int32_t k = 0; k < scene.event_count; k++) {
    print_to(prefix, "events[%d].", k);
    print_to(inner, "events[%d].impulse.", k);
    draw_group(prefix, [&] {
      draw_section(edits, "event", prefix, &scene.events[k]);
      draw_section(edits, "impulse", inner, &scene.events[k].impulse);
    });
  }
  for (int32_t k = 0; k < scene.probe_count; k++) {
    print_to(prefix, "probes[%d].", k);
    draw_group(prefix, [&] {
      draw_section(edits, "probe", prefix, &scene.probes[k]);
      draw_shape(edits, prefix, scene.probes[k].box, false, false);
    });
  }
}

void draw_parameters(Panel &panel) {
  if (!panel.definition || !ImGui::CollapsingHeader("Parameters")) return;
  Edits &edits = *panel.edits;
  const ScreeSceneDef &scene = *panel.definition;
  if (edits.count) {
    char text[64];
    print_to(text, "Apply %d change%s (starts anew)", edits.count, edits.count > 1 ? "s" : "");
    if (ImGui::Button(text)) panel.wants_reset = true;
    ImGui::SameLine();
    if (ImGui::Button("Forget")) edits.count = 0;
  } else {
    faint("Enter takes a value over; changes apply with the next start.");
  }
  draw_group("scene", [&] { draw_section(edits, "scene", "", &scene); });
  draw_group("method", [&] { draw_section(edits, "method", "method.", &scene.method); });
  draw_lists(edits, scene);
  if (scene.mechanism)
    draw_group("mechanism", [&] { draw_section(edits, "mechanism", "mechanism.", scene.mechanism); });
  if (scene.terrain) draw_group("terrain", [&] { draw_section(edits, "terrain", "terrain.", scene.terrain); });
  if (scene.upsample) draw_group("upsample", [&] { draw_section(edits, "upsample", "upsample.", scene.upsample); });
  draw_group("camera", [&] { draw_section(edits, "camera", "camera.", &scene.camera); });
}

} // namespace

void panel_draw(Panel *panel) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  ImGui::SetNextWindowPos(ImVec2(10, 10), ImGuiCond_FirstUseEver);
  ImGui::SetNextWindowSize(ImVec2(350, ImGui::GetIO().DisplaySize.y - 20), ImGuiCond_FirstUseEver);
  if (ImGui::Begin("scree (H hides)")) {
    ImGui::PushItemWidth(170);
    draw_running(*panel);
    ImGui::Separator();
    draw_choosers(*panel);
    ImGui::Separator();
    draw_look(*panel);
    ImGui::Separator();
    draw_acts(*panel);
    draw_machine(*panel);
    draw_plots(*panel);
    draw_parameters(*panel);
    ImGui::PopItemWidth();
  }
  ImGui::End();
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}
