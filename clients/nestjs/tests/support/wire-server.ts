import { create, toBinary } from "@bufbuild/protobuf";
import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { Metadata, Server, ServerCredentials, loadPackageDefinition } from "@grpc/grpc-js";
import type { GrpcObject, ServiceClientConstructor, UntypedServiceImplementation } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { loaderOptions, protoFiles, protoRoot } from "@proviso/client";
import { StatusSchema } from "@proviso/client/es/errors/status";
import type { Certificate } from "./certificate.js";

/** What the server does, by service and method. */
export type Behaviour = Record<string, UntypedServiceImplementation>;

/** Services of the contract on a real wire, doing what the test says. */
export class WireServer {
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Over TLS where there is a certificate; with `clients`, only clients that it vouches for. */
  static async start(behaviour: Behaviour, certificate?: Certificate, clients?: Certificate): Promise<WireServer> {
    const loaded = loadPackageDefinition(loadSync([...protoFiles], { ...loaderOptions, includeDirs: [protoRoot] }));
    const v1 = (loaded.proviso as GrpcObject).v1 as GrpcObject;
    const server = new Server();
    for (const [name, methods] of Object.entries(behaviour)) {
      server.addService((v1[name] as ServiceClientConstructor).service, methods);
    }
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", credentialsOf(certificate, clients), (error, port) => {
        if (error) reject(error);
        else resolve(port);
      });
    });
    return new WireServer(server, `127.0.0.1:${port}`);
  }

  close(): void {
    this.server.forceShutdown();
  }
}

function credentialsOf(certificate: Certificate | undefined, clients: Certificate | undefined): ServerCredentials {
  if (!certificate) return ServerCredentials.createInsecure();
  const pair = { cert_chain: certificate.cert, private_key: certificate.key };
  return ServerCredentials.createSsl(clients?.cert ?? null, [pair], clients !== undefined);
}

/** A detail of a failed call. */
export interface Detail {
  schema: GenMessage<Message>;
  message: Message;
}

/** What a call fails with: a status, and its details in the trailers. */
export function failure(code: number, details: readonly Detail[] = []): Error & { code: number; metadata: Metadata } {
  const packed = details.map(({ schema, message }) => create(AnySchema, anyPack(schema, message)));
  const metadata = new Metadata();
  const status = create(StatusSchema, { code, message: "no", details: packed });
  metadata.set("grpc-status-details-bin", Buffer.from(toBinary(StatusSchema, status)));
  return Object.assign(new Error("no"), { code, details: "no", metadata });
}
