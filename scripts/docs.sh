#!/bin/bash
# Makes again the documents that are made from code. The docs tests fail while one of them is stale.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
SCREE_UPDATE_DOCS=1 build/test_unit_scene_reference
