"""Tests of check_includes.py: a small tree for each rule, once right and once wrong."""

import tempfile
import unittest
from pathlib import Path

from check_includes import MAX_DEPTH, Graph

HEADER = "#pragma once\n"


class IncludeGraphTest(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return Graph(root).check()

    def assert_one(self, files, where, what):
        problems = self.problems(files)
        self.assertEqual(len(problems), 1, problems)
        self.assertTrue(problems[0].startswith(where + ": "), problems[0])
        self.assertIn(what, problems[0])

    def test_a_declared_edge_is_fine(self):
        self.assertEqual(
            self.problems(
                {
                    "src/a/CMakeLists.txt": "weir_library()\n",
                    "src/a/a.h": HEADER,
                    "src/b/c/CMakeLists.txt": "weir_library(\n  SOURCES b.cc  # (a comment)\n  DEPS a)\n",
                    "src/b/c/b.cc": '#include <vector>\n#include "a/a.h"\n',
                }
            ),
            [],
        )

    def test_an_undeclared_edge(self):
        self.assert_one(
            {
                "src/a/CMakeLists.txt": "weir_library()",
                "src/a/a.h": HEADER,
                "src/b/CMakeLists.txt": "weir_library(SOURCES b.cc)",
                "src/b/b.cc": '\n#include "a/a.h"\n',
            },
            "src/b/b.cc:2",
            "add a to DEPS",
        )

    def test_a_commented_out_edge_is_not_declared(self):
        self.assert_one(
            {
                "src/a/CMakeLists.txt": "weir_library()",
                "src/a/a.h": HEADER,
                "src/b/CMakeLists.txt": "weir_library(SOURCES b.cc\n  # DEPS a\n)",
                "src/b/b.cc": '#include "a/a.h"\n',
            },
            "src/b/b.cc:1",
            "add a to DEPS",
        )

    def test_a_test_may_use_test_deps_and_a_source_may_not(self):
        files = {
            "src/a/CMakeLists.txt": "weir_library()",
            "src/a/a.h": HEADER,
            "src/b/CMakeLists.txt": "weir_library(SOURCES b.cc TESTS b_test.cc TEST_DEPS a)",
            "src/b/b.cc": "",
            "src/b/b_test.cc": '#include "a/a.h"\n',
        }
        self.assertEqual(self.problems(files), [])
        files["src/b/b.cc"] = '#include "a/a.h"\n'
        self.assert_one(files, "src/b/b.cc:1", "add a to DEPS")

    def test_a_bench_may_use_bench_deps_and_a_test_may_not(self):
        files = {
            "src/a/CMakeLists.txt": "weir_library()",
            "src/a/a.h": HEADER,
            "src/b/CMakeLists.txt": "weir_library(TESTS b_test.cc BENCHES b_bench.cc BENCH_DEPS a)",
            "src/b/b_bench.cc": '#include "a/a.h"\n',
            "src/b/b_test.cc": "",
        }
        self.assertEqual(self.problems(files), [])
        files["src/b/b_test.cc"] = '#include "a/a.h"\n'
        self.assert_one(files, "src/b/b_test.cc:1", "add a to TEST_DEPS")

    def test_unused_edges(self):
        files = {
            "src/a/CMakeLists.txt": "weir_library()",
            "src/a/a.h": HEADER,
            "src/b/CMakeLists.txt": "weir_library(\n  SOURCES b.cc\n  DEPS a)",
            "src/b/b.cc": "",
        }
        self.assert_one(files, "src/b/CMakeLists.txt:3", "which nothing here includes")
        files["src/b/CMakeLists.txt"] = "weir_library(SOURCES b.cc TESTS b_test.cc DEPS a)"
        files["src/b/b_test.cc"] = '#include "a/a.h"\n'
        self.assert_one(files, "src/b/CMakeLists.txt:1", "move it to TEST_DEPS")
        files["src/b/CMakeLists.txt"] = "weir_library(SOURCES b.cc TESTS b_test.cc TEST_DEPS a)"
        files["src/b/b_test.cc"] = ""
        self.assert_one(files, "src/b/CMakeLists.txt:1", "which no test here includes")

    def test_an_edge_to_nowhere(self):
        self.assert_one({"src/b/CMakeLists.txt": "weir_library(DEPS typo)"}, "src/b/CMakeLists.txt:1", "typo")

    def test_a_cycle_of_folders(self):
        self.assert_one(
            {
                "src/a/CMakeLists.txt": "weir_library(SOURCES a.cc DEPS b)",
                "src/a/a.h": HEADER,
                "src/a/a.cc": '#include "b/b.h"\n',
                "src/b/CMakeLists.txt": "weir_library(SOURCES b.cc DEPS a)",
                "src/b/b.h": HEADER,
                "src/b/b.cc": '#include "a/a.h"\n',
            },
            "src/a/CMakeLists.txt:1",
            "a → b → a",
        )

    def test_a_cycle_of_files(self):
        self.assert_one(
            {
                "src/a/CMakeLists.txt": "weir_library()",
                "src/a/x.h": HEADER + '#include "a/y.h"\n',
                "src/a/y.h": HEADER + '#include "a/x.h"\n',
            },
            "src/a/x.h:2",
            "src/a/x.h → src/a/y.h → src/a/x.h",
        )

    def test_a_stage_may_not_include_another_even_if_declared(self):
        files = {
            "src/serve/request/CMakeLists.txt": "weir_library()",
            "src/serve/request/request.h": HEADER,
            "src/serve/batch/CMakeLists.txt": "weir_library()",
            "src/serve/batch/batch.h": HEADER,
            "src/serve/engine/CMakeLists.txt": "weir_library(SOURCES engine.cc DEPS serve/request serve/batch)",
            "src/serve/engine/engine.cc": '#include "serve/request/request.h"\n#include "serve/batch/batch.h"\n',
        }
        self.assert_one(files, "src/serve/engine/engine.cc:2", "stage engine includes stage batch")

    def test_folders_of_one_stage_may_include_each_other(self):
        self.assertEqual(
            self.problems(
                {
                    "src/serve/front/CMakeLists.txt": "weir_library()",
                    "src/serve/front/dialect.h": HEADER,
                    "src/serve/front/http/CMakeLists.txt": "weir_library(SOURCES http.cc DEPS serve/front)",
                    "src/serve/front/http/http.cc": '#include "serve/front/dialect.h"\n',
                }
            ),
            [],
        )

    def test_depth(self):
        files = {"src/a/CMakeLists.txt": "weir_library(SOURCES a.cc)", "src/a/h0.h": HEADER}
        for i in range(1, MAX_DEPTH):
            files[f"src/a/h{i}.h"] = HEADER + f'#include "a/h{i - 1}.h"\n'
        files["src/a/a.cc"] = f'#include "a/h{MAX_DEPTH - 1}.h"\n'
        self.assertEqual(self.problems(files), [])
        files[f"src/a/h{MAX_DEPTH}.h"] = HEADER + f'#include "a/h{MAX_DEPTH - 1}.h"\n'
        files["src/a/a.cc"] = f'#include "a/h{MAX_DEPTH}.h"\n'
        self.assert_one(files, "src/a/a.cc:1", f"include depth {MAX_DEPTH + 1}")

    def test_pragma_once(self):
        self.assert_one(
            {"src/a/CMakeLists.txt": "weir_library()", "src/a/a.h": "// #pragma once\n"}, "src/a/a.h:1", "#pragma once"
        )

    def test_a_missing_file(self):
        self.assert_one(
            {"src/a/CMakeLists.txt": "weir_library(SOURCES a.cc)", "src/a/a.cc": '#include "a/gone.h"\n'},
            "src/a/a.cc:1",
            "gone.h",
        )

    def test_a_source_that_nothing_builds(self):
        self.assert_one(
            {"src/a/CMakeLists.txt": "weir_library(SOURCES aa.cc)", "src/a/aa.cc": "", "src/a/a.cc": ""},
            "src/a/a.cc:1",
            "is built by nothing",
        )

    def test_restricted_headers(self):
        files = {
            "src/session/CMakeLists.txt": "weir_library(SOURCES s.cc)",
            "src/session/s.cc": "#include <onnxruntime_cxx_api.h>\n",
        }
        self.assertEqual(self.problems(files), [])
        files["src/a/CMakeLists.txt"] = "weir_library(SOURCES a.cc)"
        files["src/a/a.cc"] = "#include <onnxruntime_cxx_api.h>\n"
        self.assert_one(files, "src/a/a.cc:1", "may only be included in session")

    def test_a_program_declares_what_it_includes(self):
        files = {
            "src/serve/x/CMakeLists.txt": "weir_library()",
            "src/serve/x/x.h": HEADER,
            "apps/weir/CMakeLists.txt": "add_library(weir_cli help.cc)\nadd_executable(weir main.cc)\n"
            "target_link_libraries(weir PRIVATE weir_cli weir_serve_x weir_external_tcmalloc)\n",
            "apps/weir/command.h": HEADER,
            "apps/weir/main.cc": '#include "apps/weir/command.h"\n#include "serve/x/x.h"\n',
        }
        self.assertEqual(self.problems(files), [])
        files["apps/weir/CMakeLists.txt"] = "add_executable(weir main.cc)\ntarget_link_libraries(weir PRIVATE)\n"
        self.assert_one(files, "apps/weir/main.cc:2", "add serve/x to target_link_libraries()")


if __name__ == "__main__":
    unittest.main()
