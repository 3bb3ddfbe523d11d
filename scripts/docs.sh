#!/bin/bash
# Makes again the documents that are made from code. The docs tests fail while one of them is stale.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
