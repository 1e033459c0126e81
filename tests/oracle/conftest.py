"""Makes the modules of the oracle importable by the tests of this folder: `from simulate import simulate`."""

import sys
from pathlib import Path

# Test folders are no packages. At the end of the path, so that nothing here hides another module.
_HERE = str(Path(__file__).parent)
if _HERE not in sys.path:
    sys.path.append(_HERE)
