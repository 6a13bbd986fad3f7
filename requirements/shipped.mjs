// Takes a CycloneDX file of npm on standard input, and writes it without what only development needs. `npm sbom --omit dev`
// would leave out as well what development and the part itself both need.
import { text } from "node:stream/consumers";

const bom = JSON.parse(await text(process.stdin));
const isShipped = ({ properties = [] }) => !properties.some(({ name }) => name === "cdx:npm:package:development");
bom.components = bom.components.filter(isShipped);
const shipped = new Set([bom.metadata.component, ...bom.components].map((component) => component["bom-ref"]));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => shipped.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => shipped.has(each)) }));
process.stdout.write(`${JSON.stringify(bom, undefined, 2)}\n`);
