export { CodePoints } from "../../../../typescript/src/code-points.js";
