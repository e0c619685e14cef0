import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { onAbort } from '@berth/runtime/loop/sleep';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags } from '../../flags/hub-flags.ts';
import type { CliCommand } from '../cli-command.ts';
import { statusCommand } from '../controller/status.ts';
import { historyCommand } from '../history/history.ts';
import { getDecisionsCommand, getHoldsCommand } from '../objects/get-more.ts';
import { explainCommand } from '../placements/explain.ts';
import { getPlacementsCommand } from '../placements/get-placements.ts';
import { runCommands } from '../run-commands.ts';
import { planCommand } from '../sources/plan.ts';
import { packageVersion } from '../version.ts';
import { answerLine, type McpTool, type ToolAnswer } from './mcp-server.ts';

interface McpFlags extends HubFlags {
  readonly repo: string;
}

const HELP = `
Serves the Model Context Protocol on standard input and output until that is closed. The tools read: none of them approves,
releases or writes anything. They have the rights of the kubeconfig.

Exit codes: 0 the input was closed, 1 error.

Examples:
  berth mcp --kubeconfig hub.kubeconfig --repo fleet
  claude mcp add berth -- berth mcp --kubeconfig hub.kubeconfig --repo fleet
`;

const INSTRUCTIONS =
  'Berth decides on which Kubernetes clusters workloads run, from placements in Git. Use explain for why a placement selects a cluster or not, plan for what a commit, a drain or the loss of clusters would move, history for what moved and from which commit, holds for what waits for an approval. Only people approve a hold.';

/** What a tool runs. */
const COMMANDS = [
  statusCommand,
  explainCommand,
  planCommand,
  historyCommand,
  getHoldsCommand,
  getPlacementsCommand,
  getDecisionsCommand,
];

interface ToolCommand extends Pick<McpTool, 'name' | 'description'> {
  /** With the flags that it always has. */
  readonly command: string;
  /** What an assistant may add, with what it means. A value never becomes a flag of its own. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Whether it is about a placement. */
  readonly placement?: 'needed' | 'possible';
  readonly readsRepository?: true;
}

const CLUSTERS = 'a ManagedCluster, or KEY=VALUE for all clusters with this label or claim';

const TOOLS: readonly ToolCommand[] = [
  {
    ...{ name: 'status', command: 'status' },
    description: 'what the controller read, published and held, and what is wrong in Git',
  },
  {
    ...{ name: 'placements', command: 'get placements', flags: { namespace: 'only this namespace' } },
    description: 'all Placements with their clusters, what is held, and what is wrong',
  },
  {
    ...{ name: 'decisions', command: 'get decisions', flags: { namespace: 'only this namespace' } },
    description: 'the published clusters of each PlacementDecision, with their reasons',
  },
  {
    ...{ name: 'holds', command: 'get holds' },
    description: 'what waits for the approval of a person, with reason, age and code',
  },
  {
    ...{ name: 'explain', command: 'explain --hub', placement: 'needed' },
    description: 'why a Placement selects clusters or not, and what would change that',
    flags: { cluster: 'explain this cluster, selected or not' },
  },
  {
    ...{ name: 'history', command: 'history --hub', placement: 'possible' },
    description: 'which clusters were added to Placements and removed, when and from which commit',
  },
  {
    ...{ name: 'plan', command: 'plan --hub', readsRepository: true },
    description:
      'what merging a commit, draining a cluster or losing clusters would move, delete and hold, and why',
    flags: {
      base: 'branch, tag or commit to merge into',
      head: 'branch, tag or commit to merge (default: HEAD)',
      drain: `assume that this is drained: ${CLUSTERS}`,
      lose: `assume that this is gone: ${CLUSTERS}`,
    },
  },
];

/** `berth mcp`: tools for assistants. They read, and print what the commands of the same names print. */
export const mcpCommand: CliCommand = {
  register(program, run) {
    addHubFlags(
      program
        .command('mcp')
        .description('serve tools to assistants that only read: explain, plan, history, holds (MCP)')
        .option('--repo <folder>', 'clone or bare repository of which plan reads commits', '.')
        .addHelpText('after', HELP),
    ).action(run((io, flags: McpFlags) => runMcp(io, flags)));
  },
};

async function runMcp(io: CliIo, flags: McpFlags): Promise<ExitCode> {
  const tools = TOOLS.map((tool) => ({
    ...{ name: tool.name, description: tool.description },
    parameters: { ...(tool.placement && { placement: 'NAMESPACE/NAME of a Placement' }), ...tool.flags },
    required: tool.placement === 'needed' ? ['placement'] : [],
    call: (given: Readonly<Record<string, string>>) => runTool(io, flags, tool, given),
  }));
  const server = { version: await packageVersion(), instructions: INSTRUCTIONS, tools };
  const lines = createInterface({ input: io.stdin });
  onAbort(io.signal, () => lines.close());
  const answering = new Set<Promise<void>>();
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const answered = answerLine(server, line).then((answer) => {
      if (answer !== undefined) io.stdout.write(`${answer}\n`);
      answering.delete(answered);
    });
    answering.add(answered);
  }
  await Promise.all(answering);
  return 0;
}

async function runTool(
  io: CliIo,
  { kubeconfig, context, repo }: McpFlags,
  { command, readsRepository }: ToolCommand,
  { placement, ...given }: Readonly<Record<string, string>>,
): Promise<ToolAnswer> {
  const flags = { kubeconfig, context, ...(readsRepository && { repo }), ...given };
  const words = [
    ...command.split(' '),
    ...Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    ...(placement === undefined ? [] : ['--', placement]),
  ];
  const [stdout, stderr] = [new Captured(), new Captured()];
  const exitCode = await runCommands(COMMANDS, words, { ...io, stdout, stderr, colour: false });
  // Some exit codes say what was found. What failed prints nothing but its error.
  return { text: `${stdout.text}${stderr.text}`, isError: exitCode === 1 && stdout.text === '' };
}

/** A stream that keeps what is written to it. */
class Captured extends PassThrough {
  text = '';

  override write(chunk: string | Uint8Array): boolean {
    this.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    return true;
  }
}
