import { Global, Module } from "@nestjs/common";
import { EventStreams } from "./event-streams.js";

/** What all controllers share. */
@Global()
@Module({ providers: [EventStreams], exports: [EventStreams] })
export class HttpModule {}
