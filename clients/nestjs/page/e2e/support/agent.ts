import { appendFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./processes.js";

const DEFAULT_AGENT = join(PROJECT, "service/proviso_service/context/catalog/default_agent");

/** Makes the default agent's folder in another, with a tool that needs an approval; answers with its path. */
export function agentWithApproval(folder: string): string {
  const agent = join(folder, "agent");
  cpSync(DEFAULT_AGENT, agent, { recursive: true });
  appendFileSync(join(agent, "agent.yaml"), "\nproviso:\n  tools:\n    isaacus_iql: {approval: required}\n");
  return agent;
}
