import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Server, ServerCredentials as grpcServer, credentials as grpc } from "@grpc/grpc-js";
import type { ChannelCredentials, Client as GrpcClient, ServiceClientConstructor } from "@grpc/grpc-js";
import { loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { GrpcObject, Metadata, sendUnaryData } from "@grpc/grpc-js";
import { Observable, firstValueFrom, of, throwError } from "rxjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageRoot } from "../package-root.cjs";
import { ProvisoError, Tokens, loaderOptions, protoFiles, protoRoot, renewing } from "../src/index.js";
import { tlsCredentials, userMetadata } from "../src/index.js";
import type { AccessToken } from "../src/index.js";
import type { GetCallerResponse } from "../src/stubs/proviso/v1/access.js";
import { selfSigned } from "./support/certificate.js";
import { Service } from "./support/service.js";

const folder = mkdtempSync(join(tmpdir(), "proviso-credentials-"));
const ca = join(folder, "ca.pem");
const { cert, key } = selfSigned("localhost");
const proto = loadPackageDefinition(loadSync([...protoFiles], { ...loaderOptions, includeDirs: [protoRoot] }));
const v1 = (proto.proviso as GrpcObject).v1 as GrpcObject;
let service: Service;
let ada: string;
let gateway: string;

beforeAll(async () => {
  writeFileSync(ca, cert);
  writeFileSync(join(folder, "key.pem"), key);
  const server = { tls_cert: ca, tls_key: join(folder, "key.pem") };
  service = new Service({ server, auth: { api_keys: true } });
  await service.start();
  ada = service.key("ada");
  gateway = service.key("gateway", "act_for_users");
});

afterAll(async () => {
  await service.remove();
  rmSync(folder, { recursive: true });
});

/** Who the service takes the caller for. */
function caller(
  credentials: ChannelCredentials,
  metadata: Metadata = userMetadata(""),
  port = service.port,
): Observable<GetCallerResponse> {
  return new Observable((answer) => {
    const Access = v1.AccessService as ServiceClientConstructor;
    const client = new Access(`localhost:${port}`, credentials) as unknown as GrpcClient & {
      getCaller: (
        request: object,
        metadata: Metadata,
        done: (error: Error | null, value?: GetCallerResponse) => void,
      ) => void;
    };
    client.getCaller({}, metadata, (error, value) => {
      client.close();
      if (error || !value) answer.error(error);
      else {
        answer.next(value);
        answer.complete();
      }
    });
  });
}

async function refused(call: Observable<unknown>): Promise<string> {
  const failure: unknown = await firstValueFrom(call).catch((error: unknown) => error);
  return ProvisoError.from(failure).status;
}

test("a key goes with every call over TLS", async () => {
  const credentials = tlsCredentials({ rootCa: ca, tokens: new Tokens(ada) });
  const who = { tenant: "acme", userId: "ada", authenticated: true };
  expect(await firstValueFrom(caller(credentials))).toMatchObject(who);
});

test("a gateway acts for the user whom it names, another key for nobody", async () => {
  const acting = tlsCredentials({ rootCa: cert, tokens: new Tokens(gateway) });
  expect(await firstValueFrom(caller(acting, userMetadata("carol")))).toMatchObject({ userId: "carol" });
  const own = tlsCredentials({ rootCa: cert, tokens: new Tokens(ada) });
  expect(await refused(caller(own, userMetadata("carol")))).toBe("PERMISSION_DENIED");
});

test("a service that is not vouched for gets nothing, and no token goes without TLS", async () => {
  expect(await refused(caller(tlsCredentials({ tokens: new Tokens(ada) })))).toBe("UNAVAILABLE");
  expect(await refused(caller(tlsCredentials({ rootCa: ca })))).toBe("UNAUTHENTICATED");
  expect(await refused(caller(grpc.createInsecure()))).toBe("UNAVAILABLE");
  expect(() => tlsCredentials({ certificate: cert })).toThrow(/both/);
});

test("the example of the README shows a certificate and the token of the moment", async () => {
  const readme = readFileSync(join(packageRoot, "README.md"), "utf8");
  const example = /^## Credentials\n.*?^```ts\n(.*?)^```$/ms.exec(readme)?.[1] ?? "";
  const client = selfSigned("gateway");
  writeFileSync(join(folder, "client.pem"), client.cert);
  writeFileSync(join(folder, "client.key"), client.key);
  const program = `import { grpcOptions } from "@proviso/client";\n${example}`
    .replaceAll("@proviso/client", join(packageRoot, "src/index.ts"))
    .replace(/"(\w+\.(?:pem|key))"/g, (_, name: string) => JSON.stringify(join(folder, name)));
  const file = join(folder, "example.ts");
  writeFileSync(file, `${program}export { credentials };\n`);
  const { credentials } = (await import(/* @vite-ignore */ file)) as { credentials: ChannelCredentials };
  const asking = new Server();
  asking.addService((v1.AccessService as ServiceClientConstructor).service, {
    getCaller: ({ metadata }: { metadata: Metadata }, reply: sendUnaryData<object>) => {
      reply(null, { userId: metadata.get("authorization").join() });
    },
  });
  const own = grpcServer.createSsl(client.cert, [{ cert_chain: cert, private_key: key }], true);
  const port = await promisify(asking.bindAsync.bind(asking))("127.0.0.1:0", own);
  process.env.PROVISO_TOKEN = "of-the-moment";
  expect(await firstValueFrom(caller(credentials, userMetadata(""), port))).toMatchObject({
    userId: "Bearer of-the-moment",
  });
  expect(await refused(caller(tlsCredentials({ rootCa: ca }), userMetadata(""), port))).toBe("UNAVAILABLE");
  asking.forceShutdown();
});

test("a token that is refused is renewed once", async () => {
  let asked = 0;
  const tokens = new Tokens((): AccessToken => ({ token: asked++ === 0 ? "pvk_old" : ada, expiresInMs: 60_000 }));
  const credentials = tlsCredentials({ rootCa: ca, tokens });
  expect(await firstValueFrom(caller(credentials).pipe(renewing(tokens)))).toMatchObject({ userId: "ada" });
  expect(await firstValueFrom(caller(credentials))).toMatchObject({ userId: "ada" });
  expect(asked).toBe(2);
  const bad = new Tokens(() => "pvk_old");
  expect(await refused(caller(tlsCredentials({ rootCa: ca, tokens: bad })).pipe(renewing(bad)))).toBe(
    "UNAUTHENTICATED",
  );
});

test("what has begun is not repeated, and a token that is always the same is not asked for again", async () => {
  const unauthenticated = Object.assign(new Error("no"), { code: 16, details: "no", metadata: userMetadata("") });
  const tokens = new Tokens(() => ada);
  let subscribed = 0;
  const cut = new Observable<number>((answer) => {
    subscribed += 1;
    answer.next(1);
    answer.error(unauthenticated);
  });
  const seen: number[] = [];
  await new Promise<void>((resolve) => {
    cut.pipe(renewing(tokens)).subscribe({
      next: (value) => seen.push(value),
      error: () => {
        resolve();
      },
    });
  });
  expect([seen, subscribed]).toEqual([[1], 1]);
  const failing = throwError(() => unauthenticated);
  expect(await refused(failing.pipe(renewing(new Tokens(ada))))).toBe("UNAUTHENTICATED");
  expect(await firstValueFrom(of(1).pipe(renewing(tokens)))).toBe(1);
});

test("calls that come at the same time share one request for a token, which nothing shows", async () => {
  let asked = 0;
  const tokens = new Tokens(async () => Promise.resolve({ token: `secret-${++asked}`, expiresInMs: 60_000 }));
  expect(await Promise.all([tokens.current(), tokens.current()])).toEqual(["secret-1", "secret-1"]);
  expect(await tokens.current()).toBe("secret-1");
  expect(JSON.stringify(tokens)).not.toContain("secret");
});
