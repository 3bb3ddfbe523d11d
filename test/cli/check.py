"""scree check: bad scenes and --set."""
import os
import re
import unittest

from support.case import HERE, RAIN, Case


class Check(Case):
    def test_good_scene(self):
        self.assertRegex(self.good("check", RAIN).stdout, r"rain\.yaml: ok, method none")
        self.assertEqual(self.good("check", "--quiet", RAIN).stdout, "")
        self.assertEqual(os.listdir(self.folder), [])

    def test_line_and_column(self):
        typo = os.path.join(HERE, "typo.yaml")
        for command in ("check", "run"):
            line = self.bad(2, r"typo\.yaml:5:5: error: unknown key 'fricton_static'", command, typo)
            self.assertIn("(did you mean 'friction_static'?)", line)
        self.assertEqual(os.listdir(self.folder), [])

    def test_bad_files(self):
        self.bad(2, "none_there", "check", "none_there.yaml")
        self.bad(2, "error", "check", self.folder)
        scene = 'scree: 1\nmethod: {name: none, radius: %s}\nmaterials: {sand: {}}\n' \
                'grains: [{material: sand, fill: {sphere: {radius: 0.2}}}]\n'
        self.good("check", self.write("good.yaml", scene % "0.02"))
        for name, data in {"empty.yaml": "", "rubbish.yaml": bytes(range(256)) * 64, "deep.yaml": "[" * 100000,
                           "nan.yaml": scene % ".nan", "word.yaml": scene % "nan", "huge.yaml": scene % "1e400",
                           "negative.yaml": scene % "-1", "letters.yaml": scene % "0.02oo",
                           "type.yaml": scene % "[1, 2]", "list.yaml": "- 1\n",
                           "method.yaml": scene.replace("none", "magic") % "0.02"}.items():
            self.bad(2, re.escape(name), "check", self.write(name, data))

    def test_nothing_is_passed_over_in_silence(self):
        scene = 'scree: 1\nmethod: {name: none}\ngrains: [{fill: {sphere: {radius: 0.2}}}]\n'
        warned = self.good("check", self.write("wind.yaml", scene + "wind: [3, 0, 0]\n"))
        self.assertRegex(warned.stderr, r"wind\.yaml:4:1: warning: 'wind' is not read by method '\w+' \(only by sph upsample\)")
        warned = self.good("check", self.write("keys.yaml", scene + "bodies: [{name: a, sphere: {radius: 1}, "
                                               "position: [1, 0, 0], motion: keyframes, keys: [{t: 0}]}]\n"))
        self.assertRegex(warned.stderr, r"keys\.yaml:4:41: warning: 'position' is not read")

    def test_keys_that_nobody_in_the_scene_reads(self):
        def warnings(method, text):
            scene = self.write("keys.yaml", "scree: 1\nmethod: {name: %s, radius: 0.05}\n"
                               "grains: [{fill: {box: {max: [0.4, 0.4, 0.4]}}}]\n%s\n" % (method, text))
            return re.findall(r"'(\w+)' is not read", self.good("check", scene).stderr)

        fine, ground = "\nupsample: {radius: 0.02}", "\nterrain: {size: [1, 1]}"
        floor = "boundaries: [{plane: {}, friction_kinetic: 0.3}]"
        self.assertEqual(warnings("flip", floor), ["friction_kinetic"])
        self.assertEqual(warnings("flip", floor + fine), [])
        self.assertEqual(warnings("sph", floor), [])
        sand = "materials: {sand: {grain_density: 2600, radius_spread: 0.1}}"
        for method in ("sph", "flip"):
            self.assertEqual(warnings(method, sand), ["grain_density", "radius_spread"])
            self.assertEqual(warnings(method, sand + fine), [])
            self.assertEqual(warnings(method, sand + ground), ["radius_spread"])
            self.assertEqual(warnings(method, "terrain: {size: [1, 1], exchange: true}"), ["exchange"])
        self.assertEqual(warnings("pbd", sand + "\nterrain: {size: [1, 1], exchange: true}"), [])
        ball = "bodies: [{sphere: {radius: 0.1}, contact: samples, position: [0, 0, 1]}]"
        self.assertEqual(warnings("flip", ball), ["contact"])
        self.assertEqual(warnings("dem", ball), [])
        self.assertEqual(warnings("pbd", "upsample: {radius: 0.02, points: 9, body_rule: false}"), ["points", "body_rule"])
        self.assertEqual(warnings("pbd", "upsample: {radius: 0.02, mode: paper, stir: 0.1}"), ["stir"])
        self.assertEqual(warnings("flip", "upsample: {radius: 0.02, mode: points, stir: 0.1, air_drag: 1}"),
                         ["stir", "air_drag"])
        for method, text, said in (("sph", "", []), ("pbd", fine, []), ("pbd", "", ["wind"]),
                                   ("flip", "\nupsample: {radius: 0.02, mode: points}", ["wind"])):
            self.assertEqual(warnings(method, "wind: [1, 0, 0]" + text), said)

    def test_the_memory_of_all_fills_counts(self):
        box = "{fill: {box: {max: [20, 20, 20]}}, velocity: [0, 0, 0]}"
        scene = "scree: 1\nmethod: {name: none, radius: %g}\ngrains: [%s]\n"
        few = 0.2
        while self.scree("check", self.write("one.yaml", scene % (few, box))).returncode == 0:
            few *= 0.8  # until one fill is too much
        self.good("check", self.write("one.yaml", scene % (few / 0.8, box)))
        self.bad(2, "with the fills before", "check", self.write("four.yaml", scene % (few / 0.8, ", ".join([box] * 4))))

    def test_a_scene_as_understood_is_clean(self):
        for method in ("pbd", "p2", "dem"):
            scene = self.write("sand.yaml", 'scree: 1\nmethod: {name: %s, radius: 0.1}\n'
                                            'grains: [{fill: {sphere: {radius: 0.3}}}]\n' % method)
            out = os.path.join(self.folder, method)
            self.good("run", scene, "-o", out, "--frames", "1", "--frames-format", "none", "--quiet")
            checked = self.good("check", os.path.join(out, "scene.yaml"))
            self.assertEqual(checked.stderr, "")
            self.assertRegex(checked.stdout, "0 warnings")

    def test_what_a_method_refuses(self):
        scene = self.write("stiff.yaml", 'scree: 1\nmethod: {name: dem, time_step: 0.05}\n'
                                         'grains: [{fill: {sphere: {radius: 0.2}}}]\n')
        self.bad(2, r"stiff\.yaml:2:1: error: time_step 0\.05 s is too long", "check", scene)

    def test_what_fine_grains_refuse(self):
        scene = self.write("points.yaml", 'scree: 1\nmethod: {name: pbd}\ngrains: [{fill: {sphere: {radius: 0.2}}}]\n'
                                          'upsample: {mode: points}\n')
        for command in ("check", "run"):
            self.bad(2, r"points\.yaml:4:1: error: upsample.mode points needs method flip", command, scene)

    def test_fills_that_overlap(self):
        scene = 'scree: 1\nmethod: {name: sph, radius: 0.05}\ngrains:\n- {fill: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}\n' \
                '- {fill: {box: {min: [0, 0, %s], max: [1, 1, 2]}}}\n'
        self.assertEqual(self.good("check", self.write("beside.yaml", scene % "1")).stderr, "")
        self.assertRegex(self.good("check", self.write("twice.yaml", scene % "0.5")).stderr,
                         r"twice\.yaml:5:\d+: warning: about 3\d % of this fill lies inside those before it: sand is put there twice")

    def test_a_plane_has_no_inside(self):
        scene = self.write("plane.yaml", 'scree: 1\nmethod: {name: pbd}\n'
                                         'grains: [{fill: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.2]}}}]\n'
                                         'boundaries: [{plane: {}, inside: true}]\n')
        self.assertRegex(self.good("check", scene).stderr, r"\A.*'inside' has no meaning for a plane.*\n\Z")
        self.good("run", scene, "-o", self.path("o"), "--frames", "0")
        self.assertGreater(self.report("o")["particles"]["coarse"], 0)

    def test_a_method_that_warns(self):
        scene = self.write("thin.yaml", 'scree: 1\nmethod: {name: flip, radius: 0.05}\n'
                                        'grains: [{fill: {sphere: {radius: 0.2}}}]\n'
                                        'bodies: [{name: plate, box: {size: [1, 1, 0.01]}, position: [0, 0, -1]}]\n')
        self.assertRegex(self.good("check", scene).stderr, r"\Awarning: 'plate' is 0\.01 m thin")

    def test_a_step_written_for_another_method(self):
        scene = self.write("slow.yaml", 'scree: 1\nmethod: {name: pbd, time_step: 0.005}\n'
                                        'grains: [{fill: {sphere: {radius: 0.2}}}]\n')
        checked = self.good("check", scene, "--method", "dem")
        self.assertRegex(checked.stderr, "time_step 0.005 s was written for another method")
        self.bad(2, "time_step 0.005 s is too long", "check", scene, "--method", "dem",
                 "--set", "method.time_step=0.005")

    def test_a_fill_that_reaches_into_a_wall(self):
        scene = self.write("deep.yaml", 'scree: 1\nmethod: {name: sph, radius: 0.05}\n'
                                        'grains: [{fill: {box: {min: [0, 0, -0.5], max: [1, 1, 1]}}}]\n'
                                        'boundaries: [{plane: {normal: [0, 0, 1]}, name: floor}]\n')
        said = r"deep\.yaml:3:\d+: warning: about 3\d % of this fill lies inside 'floor': no grains are put there"
        self.assertRegex(self.good("check", scene).stderr, said)
        self.assertRegex(self.good("run", scene, "--frames", "0", "-o", os.path.join(self.folder, "deep")).stderr, said)

    def test_meshes(self):
        scene = 'scree: 1\nmethod: {name: none, radius: 0.05}\n%s: [{%s}]\n'
        flat = self.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        fill = self.write("fill.yaml", scene % ("grains", "fill: {mesh: flat.obj}"))
        for command in ("check", "run"):
            lines = self.scree(command, fill)
            self.assertEqual(lines.returncode, 2)
            self.assertRegex(lines.stderr, r"fill\.yaml:3:\d+: error: the fill encloses nothing")
        wall = self.write("wall.yaml",
                          scene % ("grains", "fill: {sphere: {radius: 1}}") + "boundaries: [{mesh: flat.obj}]\n")
        self.assertRegex(self.good("check", wall).stderr, r"flat\.obj: warning: the mesh is open")
        points = self.path("points.ply")
        self.assertEqual(self.scree("sample", flat, "--radius", "0.05", "-o", points).returncode, 2)
        self.assertFalse(os.path.exists(points))
        self.good("sample", flat, "--radius", "0.05", "--surface", "-o", points)

    def test_set(self):
        self.assertIn("ok", self.good("check", RAIN, "--set", "method.radius=0.05", "--set", "duration=2").stdout)
        self.bad(2, "did you mean 'radius'", "check", RAIN, "--set", "method.radus=0.05")
        self.bad(2, "error", "check", RAIN, "--set", "method.radius=big")
        self.bad(2, "error", "check", RAIN, "--set", "method.radius")
        self.bad(2, "magic", "check", RAIN, "--method", "magic")


if __name__ == "__main__":
    unittest.main()
