import { errorText } from '@berth/runtime/errors';

/* The server half of the Model Context Protocol, with tools alone: JSON-RPC 2.0, one message a line. Specification 2025-06-18. */

/** What an assistant may call. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** By name: what a value means. All values are text. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  readonly call: (given: Readonly<Record<string, string>>) => Promise<ToolAnswer>;
}

export interface ToolAnswer {
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
