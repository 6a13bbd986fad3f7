import { expect, test } from "vitest";
import { matchingTemplates } from "../../src/iql/template-filter.js";

const TEMPLATES = [
  { name: "liability cap clause", arguments: [], meaning: "A monetary maximum of liability." },
  { name: "clause obligating", arguments: ["PARTY"], meaning: "Imposes a duty on the party." },
  { name: "non-compete clause", arguments: [], meaning: "Restricts competing." },
];

test.each([
  ["", [0, 1, 2]],
  ["LIAB", [0]],
  ["duty party", [1]],
  ["compete", [2]],
  ["clause", [0, 1, 2]],
  ["clause duty", [1]],
  ["nothing", []],
])("%j finds %j", (filter, expected) => {
  expect(matchingTemplates(TEMPLATES, filter)).toEqual(expected.map((index) => TEMPLATES[index]));
});
