import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { errorText } from '@berth/runtime/errors';
import { onAbort } from '@berth/runtime/loop/sleep';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags } from '../../flags/hub-flags.ts';
import type { CliCommand } from '../cli-command.ts';
import { statusCommand } from '../controller/status.ts';
import { historyCommand } from '../history/history.ts';
import { getDecisionsCommand, getHoldsCommand, getPlacementsCommand } from '../objects/get-more.ts';
import { explainCommand } from '../placements/explain.ts';
import { runCommands } from '../run-commands.ts';
import { planCommand } from '../sources/plan.ts';
import { packageVersion } from '../version.ts';

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

/* The server half of the Model Context Protocol, with tools alone: JSON-RPC 2.0, one message a line. Specification 2025-06-18. */

/** What an assistant may call. */
interface McpTool {
  readonly name: string;
  readonly description: string;
  /** By name: what a value means. All values are text. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  readonly call: (given: Readonly<Record<string, string>>) => Promise<ToolAnswer>;
}

interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

export interface McpServer {
  /** Of the program. */
  readonly version: string;
  /** For the assistant: what the tools are for. */
  readonly instructions: string;
  readonly tools: readonly McpTool[];
}

/** Oldest first. A client that asks for another version gets the newest and decides by itself. */
const PROTOCOL_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18'] as const;
const CODES = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 } as const;

type Json = Readonly<Record<string, unknown>>;

/** A refused message. */
class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Answers one message.
 * @param line one message, or what should be one
 * @returns the answer as one line; undefined for a notification, which has none. Never rejects.
 */
export async function answerLine(server: McpServer, line: string): Promise<string | undefined> {
  let id: unknown = null;
  try {
    const message = parsed(line);
    if (typeof message['id'] === 'string' || typeof message['id'] === 'number') id = message['id'];
    if (message['jsonrpc'] !== '2.0' || typeof message['method'] !== 'string')
      throw new RpcError(CODES.request, 'expected a JSON-RPC 2.0 request');
    if (id === null) return undefined;
    const params = isJson(message['params']) ? message['params'] : {};
    return text({ id, result: await resultOf(server, message['method'], params) });
  } catch (error) {
    const code = error instanceof RpcError ? error.code : CODES.internal;
    return text({ id, error: { code, message: errorText(error) } });
  }
}

function parsed(line: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new RpcError(CODES.parse, 'expected one JSON object on a line');
  }
  if (!isJson(value)) throw new RpcError(CODES.request, 'expected one JSON object on a line');
  return value;
}

function text(answer: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', ...answer });
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function resultOf(server: McpServer, method: string, params: Json): Promise<Json> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion:
          PROTOCOL_VERSIONS.find((one) => one === params['protocolVersion']) ?? PROTOCOL_VERSIONS.at(-1),
        capabilities: { tools: {} },
        serverInfo: { name: 'berth', version: server.version },
        instructions: server.instructions,
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: server.tools.map(listed) };
    case 'tools/call':
      return called(server, params);
    default:
      throw new RpcError(CODES.method, `no method ${JSON.stringify(method)}`);
  }
}

function listed({ name, description, parameters, required }: McpTool): Json {
  const properties = Object.fromEntries(
    Object.entries(parameters).map(([key, meaning]) => [key, { type: 'string', description: meaning }]),
  );
  return {
    ...{ name, description, annotations: { readOnlyHint: true } },
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
  };
}

async function called({ tools }: McpServer, params: Json): Promise<Json> {
  const tool = tools.find(({ name }) => name === params['name']);
  if (tool === undefined) throw new RpcError(CODES.params, `no tool ${JSON.stringify(params['name'])}`);
  const { text: answer, isError } = await tool.call(checked(tool, params['arguments'] ?? {}));
  return { content: [{ type: 'text', text: answer }], isError };
}

function checked({ parameters, required }: McpTool, given: unknown): Readonly<Record<string, string>> {
  if (!isJson(given)) throw new RpcError(CODES.params, 'expected arguments as an object');
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(parameters, name))
      throw new RpcError(CODES.params, `no argument ${JSON.stringify(name)}`);
    if (typeof value !== 'string' || value === '') throw new RpcError(CODES.params, `${name}: expected text`);
  }
  const missing = required.filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0) throw new RpcError(CODES.params, `expected ${missing.join(', ')}`);
  return given as Readonly<Record<string, string>>;
}
