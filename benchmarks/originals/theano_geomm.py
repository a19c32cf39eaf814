"""Run geomm.py on a CPU under an old Python with Theano, as far as its evaluation, which needs cupy and is not wanted.

OLD_PYTHON theano_geomm.py ARGUMENTS...
"""

import runpy
import sys
import types


def stop(_):
    sys.exit(0)


sys.modules["cupy"] = types.ModuleType("cupy")
sys.modules["cupy"].cuda = types.SimpleNamespace(Device=stop)
sys.modules["ipdb"] = types.ModuleType("ipdb")
sys.path.insert(0, ".")
sys.argv[0] = "geomm.py"
runpy.run_path("geomm.py", run_name="__main__")
