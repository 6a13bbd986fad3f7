// The real service, the proxy that cuts connections and the scripts of the service's model are those of the client's tests.
export { Proxy } from "../../../typescript/tests/support/proxy.js";
export { ASKING, Gate, LISTING, script, tokens } from "../../../typescript/tests/support/script.js";
export { Service } from "../../../typescript/tests/support/service.js";
