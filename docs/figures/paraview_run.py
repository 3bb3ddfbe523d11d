"""Makes docs/images/paraview.png: the last frame of a time series, opened and drawn by ParaView without a screen. The
commands are on docs/paraview.md."""
import sys

from paraview import simple as pv

SERIES, PICTURE = sys.argv[1:3]
BOUNDARIES = 5  # of the scene: the floor and the walls of the bed

run = pv.PVDReader(FileName=SERIES)
times = list(run.TimestepValues)
pv.UpdatePipeline(time=times[-1], proxy=run)


def part(name):
    """One part of the series: coarse, grains or bodies."""
    block = pv.MergeBlocks(Input=pv.ExtractBlock(Input=run, Selectors=[f"/Root/{name}"]))
    block.UpdatePipeline(times[-1])
    return block


view = pv.CreateRenderView(ViewSize=[1280, 720], OrientationAxesVisibility=0, UseColorPaletteForBackground=0,
                           BackgroundColorMode="Gradient", Background=[0.75, 0.78, 0.82], Background2=[0.45, 0.55, 0.7])
view.ViewTime = times[-1]

grains = part("grains")
shown = pv.Show(grains, view)
shown.SetRepresentationType("Point Gaussian")
shown.ShaderPreset = "Sphere"
shown.ScaleByArray, shown.SetScaleArray, shown.UseScaleFunction = 1, ["POINTS", "radius"], 0
shown.GaussianRadius = 1
pv.ColorBy(shown, ("POINTS", "velocity", "Magnitude"))
colors = pv.GetColorTransferFunction("velocity")
colors.RGBPoints = [0, 0.85, 0.70, 0.45, 0.1, 0.9, 0.45, 0.2, 0.25, 0.6, 0.05, 0.1]  # sand, and red where it moves
bar = pv.GetScalarBar(colors, view)
bar.Title, bar.ComponentTitle, bar.WindowLocation = "speed, m/s", "", "Upper Right Corner"
shown.SetScalarBarVisibility(view, True)

bodies = part("bodies")
for low, high, color in ((1, BOUNDARIES, [0.6, 0.6, 0.6]), (BOUNDARIES + 1, 1000, [0.9, 0.65, 0.15])):
    some = pv.Threshold(Input=bodies, Scalars=["CELLS", "body"], LowerThreshold=low, UpperThreshold=high)
    shown = pv.Show(some, view)
    pv.ColorBy(shown, None)
    shown.DiffuseColor = shown.AmbientColor = color

view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = [3.6, -3.4, 2.3], [0.75, 0, 0.4], [0, 0, 1]
view.CameraViewAngle = 19
pv.Render(view)
pv.SaveScreenshot(PICTURE, view)
print(f"ParaView {pv.GetParaViewVersion()}: {len(times)} times from {times[0]:g} to {times[-1]:g} s, "
      f"{grains.GetDataInformation().GetNumberOfPoints()} grains, "
      f"{bodies.GetDataInformation().GetNumberOfCells()} triangles")
