"""The examples for monitoring tools: their form, and that the checks find faults. deploy/test-examples runs them."""
import copy
import unittest

import examples


class TheExamples(unittest.TestCase):
    def test_name_only_what_the_programs_know(self):
        plugins, wrong = examples.telegraf(examples.read("telegraf.conf"))
        self.assertEqual(len(plugins), 2)
        self.assertEqual(wrong, [])
        self.assertEqual(list(examples.flow(examples.read("node-red-flow.json"))), [])
        self.assertEqual(list(examples.dashboard(examples.read("grafana-dashboard.json"))), [])

    def test_are_found_to_be_wrong(self):
        text = examples.read("telegraf.conf").replace("metric_version", "metrics_version")
        self.assertEqual(len(examples.telegraf(text)[1]), 2)
        good = examples.read("node-red-flow.json")
        split = next(index for index, node in enumerate(good) if node["type"] == "split")
        for change, found in [
            ({"splitter": "x"}, "has no splitter"),
            ({"wires": [["gone"]]}, "gone, which is not there"),
            ({"wires": []}, "has 0 outputs"),
            ({"z": "gone"}, "is on no tab"),
            ({"type": "function"}, "not a core node"),
        ]:
            flow = copy.deepcopy(good)
            flow[split] |= change
            self.assertTrue(any(found in fault for fault in examples.flow(flow)), change)
        board = examples.read("grafana-dashboard.json")
        board["panels"][1]["gridPos"] = board["panels"][0]["gridPos"]
        board["panels"][2]["targets"][0]["expr"] = "up{instance=~\"$bord\"}"
        self.assertEqual(len([fault for fault in examples.dashboard(board) if "is over" in fault]), 8 * 7)
        self.assertIn("Certificate ends in: there is no variable bord", examples.dashboard(board))


if __name__ == "__main__":
    unittest.main()
