import type { INestApplicationContext } from "@nestjs/common";
import { Server, ServerCredentials, loadPackageDefinition, status } from "@grpc/grpc-js";
import type { GrpcObject, ServerUnaryCall, ServiceClientConstructor, sendUnaryData } from "@grpc/grpc-js";
import type { Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { firstValueFrom, lastValueFrom } from "rxjs";
import { afterEach, expect, test } from "vitest";
import { agentEvents, loaderOptions, matterMetadata, protoFiles, protoRoot, userMetadata } from "../src/index.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { WireServer, fail, last, tellTurnId } from "./support/wire-server.js";

const MATTER = "7d444840-9dc0-11d1-b245-5ffdce74fad2";
const END = { turnId: "turn", sequence: 1, finalState: { message: "Done." } };

let server: WireServer | undefined;
let nest: INestApplicationContext | undefined;

afterEach(async () => {
  await nest?.close();
  server?.close();
});

function named(metadata: Metadata): unknown[] {
  return metadata.get("proviso-matter");
}

test("all calls of a turn name its matter, also after a cut", async () => {
  const seen: unknown[] = [];
  server = await WireServer.start({
    chat: (call) => {
      seen.push(named(call.metadata));
      tellTurnId(call, "turn");
      fail(call, status.UNAVAILABLE);
    },
    resumeChat: (call) => {
      seen.push(named(call.metadata));
      last(call, END);
    },
  });
  nest = await nestApplication(server.url);
  const request = { message: "Hi", matterContext: { matterId: MATTER } };
  await lastValueFrom(agentEvents(nest.get(Assistant).chat, request, { backoff: { firstMs: 1 } }));
  expect(seen).toEqual([[MATTER], [MATTER]]);
});

test("a call of the stubs names the matter of its request beside the caller's own metadata", async () => {
  const seen: unknown[] = [];
  const loaded = loadPackageDefinition(loadSync([...protoFiles], { ...loaderOptions, includeDirs: [protoRoot] }));
  const v1 = (loaded.proviso as GrpcObject).v1 as GrpcObject;
  const tools = new Server();
  tools.addService((v1.ToolService as ServiceClientConstructor).service, {
    search: ({ metadata }: ServerUnaryCall<object, object>, answer: sendUnaryData<object>) => {
      seen.push([named(metadata), metadata.get("x-user-id")]);
      answer(null, {});
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    tools.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  nest = await nestApplication(`127.0.0.1:${port}`);
  const { tools: stub } = nest.get(Assistant);
  await firstValueFrom(stub.search({ matterId: MATTER, query: "law" }, userMetadata("ann")));
  await firstValueFrom(stub.search({ query: "law" }));
  expect(seen).toEqual([
    [[MATTER], ["ann"]],
    [[], []],
  ]);
  tools.forceShutdown();
});

test.each([
  [{ matterId: "a" }, ["a"]],
  [{ matter: { matterId: "b" } }, ["b"]],
  [{ matterContext: { matterId: "" } }, []],
  [{ matterId: "not\nprintable" }, []],
  [{ matterId: "Ö" }, []],
])("%j", (request, expected) => {
  expect(named(matterMetadata(request))).toEqual(expected);
});
