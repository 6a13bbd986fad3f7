// A provider of OpenID Connect on loopback, for tests: `node provider.mjs ORIGIN ROLES`, for a gateway at an origin. It
// signs in whoever gives a name; its access tokens are for the service, of the tenant acme. Those of the client `brief` last
// two seconds. It tells a line of JSON for its address, and for each grant that it makes or refuses. It forgets whoever is
// named in a line of input, and ends with that.
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import Provider from "oidc-provider";

const AUDIENCE = "urn:proviso";
const [origin, roles] = process.argv.slice(2);
const forgotten = new Set();

const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const issuer = `http://127.0.0.1:${server.address().port}`;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

const provider = new Provider(issuer, {
  clients: ["gateway", "brief"].map((id) => ({
    client_id: id,
    client_secret: "secret-of-the-gateway",
    token_endpoint_auth_method: "client_secret_post",
    redirect_uris: [`${origin}/sign-in/callback`],
    post_logout_redirect_uris: [`${origin}/`],
    grant_types: ["authorization_code", "refresh_token"],
  })),
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "k", use: "sig", alg: "RS256" }] },
  cookies: { keys: ["a key of the tests"] },
  claims: { openid: ["sub"], profile: ["name"] },
  conformIdTokenClaims: false,
  findAccount: (_context, id) =>
    forgotten.has(id) ? undefined : { accountId: id, claims: () => ({ sub: id, name: `The person ${id}` }) },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  pkce: { required: () => true },
  extraTokenClaims: () => ({ tenant: "acme", roles: roles ?? "" }),
  ttl: { IdToken: 300, RefreshToken: 3600, Grant: 3600, Session: 3600, Interaction: 600 },
  features: {
    devInteractions: { enabled: true },
    revocation: { enabled: true },
    rpInitiatedLogout: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, _resource, { clientId }) => ({
        scope: "",
        audience: AUDIENCE,
        accessTokenFormat: "jwt",
        accessTokenTTL: clientId === "brief" ? 2 : 300,
        jwt: { sign: { alg: "RS256" } },
      }),
      useGrantedResource: () => true,
    },
  },
});

const tell = (told) => process.stdout.write(`@ ${JSON.stringify(told)}\n`);
provider.on("grant.success", ({ oidc }) => tell({ grant: oidc.params.grant_type }));
for (const what of ["grant", "revocation"])
  provider.on(`${what}.error`, (_context, { message }) => tell({ grant: message }));
provider.on("grant.revoked", () => tell({ grant: "revoked" }));
server.on("request", provider.callback());
createInterface({ input: process.stdin })
  .on("line", (name) => forgotten.add(name))
  .on("close", () => process.exit());
tell({ issuer });
