export { selfSigned } from "../../../typescript/tests/support/certificate.js";
export type { Certificate } from "../../../typescript/tests/support/certificate.js";
