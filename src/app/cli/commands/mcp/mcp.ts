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

interface ToolCommand extends Omit<McpTool, 'call'> {
  /** For example `get holds`. */
  readonly command: string;
  /** What follows it, without the flags of the hub. A value never becomes a flag of its own. */
  readonly words: (given: Readonly<Record<string, string>>, flags: McpFlags) => readonly string[];
}

const PLACEMENT = 'NAMESPACE/NAME of a Placement';
const CLUSTERS = 'a ManagedCluster, or KEY=VALUE for all clusters with this label or claim';

const TOOLS: readonly ToolCommand[] = [
  {
    name: 'status',
    description: 'what the controller read, published and held, and what is wrong in Git',
    ...{ parameters: {}, required: [] },
    ...{ command: 'status', words: () => [] },
  },
  {
    name: 'placements',
    description: 'all Placements with their clusters, what is held, and what is wrong',
    ...{ parameters: { namespace: 'only this namespace' }, required: [] },
    ...{ command: 'get placements', words: (given) => flagOf(given, 'namespace') },
  },
  {
    name: 'decisions',
    description: 'the published clusters of each PlacementDecision, with their reasons',
    ...{ parameters: { namespace: 'only this namespace' }, required: [] },
    ...{ command: 'get decisions', words: (given) => flagOf(given, 'namespace') },
  },
  {
    name: 'holds',
    description: 'what waits for the approval of a person, with reason, age and code',
    ...{ parameters: {}, required: [] },
    ...{ command: 'get holds', words: () => [] },
  },
  {
    name: 'explain',
    description: 'why a Placement selects clusters or not, and what would change that',
    parameters: { placement: PLACEMENT, cluster: 'explain this cluster, selected or not' },
    required: ['placement'],
    command: 'explain',
    words: (given) => ['--hub', ...flagOf(given, 'cluster'), '--', given['placement'] ?? ''],
  },
  {
    name: 'history',
    description: 'which clusters were added to Placements and removed, when and from which commit',
    parameters: { placement: PLACEMENT },
    required: [],
    command: 'history',
    words: ({ placement }) => ['--hub', ...(placement === undefined ? [] : ['--', placement])],
  },
  {
    name: 'plan',
    description:
      'what merging a commit, draining a cluster or losing clusters would move, delete and hold, and why',
    parameters: {
      base: 'branch, tag or commit to merge into',
      head: 'branch, tag or commit to merge (default: HEAD)',
      drain: `assume that this is drained: ${CLUSTERS}`,
      lose: `assume that this is gone: ${CLUSTERS}`,
    },
    required: [],
    command: 'plan',
    words: (given, { repo }) => [
      ...['--hub', `--repo=${repo}`],
      ...['base', 'head', 'drain', 'lose'].flatMap((name) => flagOf(given, name)),
    ],
  },
];

function flagOf(given: Readonly<Record<string, string>>, name: string): readonly string[] {
  return given[name] === undefined ? [] : [`--${name}=${given[name]}`];
}

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
    ...tool,
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
  flags: McpFlags,
  tool: ToolCommand,
  given: Readonly<Record<string, string>>,
): Promise<ToolAnswer> {
  const [stdout, stderr] = [new Captured(), new Captured()];
  const hub = [
    ...(flags.kubeconfig === undefined ? [] : [`--kubeconfig=${flags.kubeconfig}`]),
    ...(flags.context === undefined ? [] : [`--context=${flags.context}`]),
  ];
  const words = [...tool.command.split(' '), ...hub, ...tool.words(given, flags)];
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
