import { Global, Module } from "@nestjs/common";
import { EventStreams } from "./event-streams.js";
import { RunningRequests } from "./running-requests.js";

/** What all controllers share. */
@Global()
@Module({ providers: [EventStreams, RunningRequests], exports: [EventStreams] })
export class HttpModule {}
