import { Global, Module } from "@nestjs/common";
import { ClientsModule, Transport } from "@nestjs/microservices";
import { grpcOptions } from "@proviso/client";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";
import { Contract, PROVISO, credentialsOf } from "./contract.js";

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": 16 * 1024 * 1024,
  // Calls fail at once while the service is away: it is looked for every second, so that they do not for long.
  "grpc.max_reconnect_backoff_ms": 1_000,
  // A connection that has gone without a word is noticed: a stream that waits for changes would wait on it for ever.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
};

/** The channel to the service; it is closed when the gateway stops. */
@Global()
@Module({
  imports: [
    ClientsModule.registerAsync([
      {
        name: PROVISO,
        inject: [SETTINGS],
        useFactory: (settings: Settings) => ({
          transport: Transport.GRPC,
          options: grpcOptions({
            url: settings.service,
            credentials: credentialsOf(settings),
            channelOptions: CHANNEL_OPTIONS,
          }),
        }),
      },
    ]),
  ],
  providers: [Contract],
  exports: [Contract],
})
export class ContractModule {}
