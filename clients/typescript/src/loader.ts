import { join } from "node:path";
import type { ChannelCredentials, ChannelOptions, Interceptor } from "@grpc/grpc-js";
import type { Options } from "@grpc/proto-loader";
import { packageRoot } from "../package-root.cjs";
import { namingMatter } from "./matter.js";

/** The proto package. */
export const PACKAGE = "proviso.v1";

/** The folder of the proto files, for `includeDirs`. */
export const protoRoot = join(packageRoot, "protos");

/** The proto files that have services, by their path in `protoRoot`; they import the others. */
export const protoFiles: readonly string[] = [
  "access",
  "catalog",
  "chat",
  "maintenance",
  "matters",
  "sessions",
  "tools",
].map((name) => `proviso/v1/${name}.proto`);

/**
 * What @grpc/proto-loader has to be told for messages to be what the stubs say: enums and int64 are strings, every field
 * is there, and of a oneof only the one that is set.
 */
export const loaderOptions = {
  keepCase: false,
  enums: String,
  longs: String,
  defaults: true,
  oneofs: true,
} as const satisfies Options;

/**
 * A connection whose other end has vanished without a word is given up within 40 s, where gRPC by default keeps using it;
 * a service that was restarted is found within seconds, where a channel by default waits up to two minutes.
 */
export const channelOptions = {
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 5_000,
} as const satisfies ChannelOptions;

/** Where the service is. */
export interface Address {
  /** Host and port, as in "localhost:50051". */
  url: string;
  /** TLS and what goes with it; an insecure channel when absent. */
  credentials?: ChannelCredentials;
  /** On top of the package's `channelOptions`; `interceptors` among them come ahead of the one that names the matter. */
  channelOptions?: ChannelOptions;
}

/** `options` of a NestJS client whose transport is Transport.GRPC. */
export interface GrpcOptions extends Address {
  package: string;
  protoPath: string[];
  loader: typeof loaderOptions & { includeDirs: string[] };
  channelOptions: ChannelOptions;
}

/**
 * The `options` of a NestJS gRPC client:
 * `ClientsModule.register([{ name: "PROVISO", transport: Transport.GRPC, options: grpcOptions({ url }) }])`.
 */
export function grpcOptions(address: Address): GrpcOptions {
  const own = (address.channelOptions?.interceptors ?? []) as Interceptor[];
  return {
    ...address,
    package: PACKAGE,
    protoPath: [...protoFiles],
    loader: { ...loaderOptions, includeDirs: [protoRoot] },
    channelOptions: { ...channelOptions, ...address.channelOptions, interceptors: [...own, namingMatter] },
  };
}
