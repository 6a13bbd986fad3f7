import { Global, Module } from "@nestjs/common";
import { ClientsModule, Transport } from "@nestjs/microservices";
import { grpcOptions } from "@proviso/client";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";
import { Contract, PROVISO, credentialsOf } from "./contract.js";

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

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
            channelOptions: { "grpc.max_receive_message_length": MAX_MESSAGE_BYTES },
          }),
        }),
      },
    ]),
  ],
  providers: [Contract],
  exports: [Contract],
})
export class ContractModule {}
