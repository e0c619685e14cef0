import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { NotRendered } from '@berth/applicationset/failure/failures';
import { generateApplications } from '@berth/applicationset/generate-applications';
import type {
  ClusterSecret,
  DecisionObject,
  PluginResponse,
  PluginRequest,
  GeneratorInputs,
} from '@berth/applicationset/inputs/generator-inputs';
import type { JsonValue } from '@berth/applicationset/json/json-value';
import { parseFirstJson, type JsonNode, toJsonValue } from '@berth/applicationset/json/parse-go-json';
import { renderFastTemplate } from '@berth/go-template/render-fast-template';
import { renderGoTemplate } from '@berth/go-template/render-go-template';
import { StringMap, TemplateError, type TemplateValue } from '@berth/go-template/values';
import { InputError } from '@berth/runtime/errors';
import type { CliIo, ExitCode } from '../../../../terminal/cli-io.ts';

const GZIP_MAGIC = 0x1f8b;
/** The reason for a case that Berth does not render. */
const NOT_RENDERED = 'NotRendered';

/**
 * Renders recorded cases from JSON Lines, which may be gzipped, and writes one line of JSON for each to stdout, in
 * their order.
 * @returns 1 if a case is not rendered, otherwise 0
 * @throws InputError when the file or a line cannot be parsed
 */
export async function runCases(io: CliIo, file: string): Promise<ExitCode> {
  const full = path.resolve(io.cwd, file);
  let lineNumber = 0;
  let refused = 0;
  for await (const line of readLines(full, file)) {
    lineNumber += 1;
    if (line.trim() === '') continue;
    const output = renderLine(line, `${file}:${String(lineNumber)}`);
    if ('result' in output && 'reason' in output.result && output.result.reason === NOT_RENDERED)
      refused += 1;
    io.stdout.write(`${JSON.stringify(output)}\n`);
  }
  if (refused === 0) return 0;
  io.stderr.write(
    `${String(refused)} cases are not rendered: see the cases with the reason ${NOT_RENDERED}\n`,
  );
  return 1;
}

function renderLine(line: string, where: string): ReturnType<typeof renderRecordedCase> {
  try {
    return renderRecordedCase(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InputError(`the line is not a recorded case: ${error.message}`, {
      code: 'argocd.cases',
      subject: where,
      cause: error,
    });
  }
}

/** The lines of a file, which may be gzipped. */
async function* readLines(full: string, file: string): AsyncGenerator<string> {
  try {
    let rest = '';
    for await (const chunk of (await openText(full)) as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    yield rest;
  } catch (error) {
    throw new InputError('the file cannot be read', { code: 'argocd.cases', subject: file, cause: error });
  }
}

async function openText(full: string): Promise<Readable> {
  const isGzip = await isGzipped(full);
  const file = createReadStream(full);
  // Who reads the text gets the errors of both.
  const text = isGzip ? pipeline(file, createGunzip(), () => undefined) : file;
  return text.setEncoding('utf8');
}

async function isGzipped(full: string): Promise<boolean> {
  const handle = await open(full);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE(0) === GZIP_MAGIC;
  } finally {
    await handle.close();
  }
}

/** A line that records the rendering of a single template. */
interface TemplateCase {
  readonly id: string;
  readonly engine: 'go' | 'fasttemplate';
  readonly template: string;
  readonly params?: Readonly<Record<string, TemplateValue>>;
  readonly options?: readonly string[];
  /** Names of the parameters that are Go maps of strings, with dots if they are nested. */
  readonly stringMaps?: readonly string[];
}

/**
 * The output for one line: the Applications or the error of an ApplicationSet, or the result of a
 * template.
 */
export type CaseOutput =
  | {
      readonly id: string;
      readonly result:
        | { readonly applications: unknown }
        | { readonly error: string; readonly reason: string };
    }
  | { readonly id: string; readonly output: string }
  | { readonly id: string; readonly error: string };

/**
 * Renders one line of recorded cases, an ApplicationSet or a single template.
 * @throws SyntaxError for a line that is not a case
 */
export function renderRecordedCase(line: string): CaseOutput {
  const recorded = JSON.parse(line) as RecordedCase | TemplateCase;
  const problem = caseProblem(recorded);
  if (problem !== undefined) throw new SyntaxError(problem);
  return 'template' in recorded
    ? renderTemplateCase(recorded)
    : renderApplicationSetCase(withExactIntegers(recorded, line));
}

function caseProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'expected an object';
  const { id, applicationSet, template, engine, params = {} } = value as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string') return 'expected an id that is a string';
  if (template === undefined)
    return typeof applicationSet === 'object' && applicationSet !== null
      ? undefined
      : `case ${id}: expected an applicationSet or a template`;
  if (typeof template !== 'string') return `case ${id}: expected a template that is a string`;
  if (engine !== 'go' && engine !== 'fasttemplate')
    return `case ${id}: expected the engine go or fasttemplate, got ${JSON.stringify(engine)}`;
  return typeof params === 'object' && params !== null ? undefined : `case ${id}: expected params`;
}

function renderApplicationSetCase(recorded: RecordedCase): CaseOutput {
  const { id } = recorded;
  try {
    const generated = generateApplications(recorded.applicationSet, recordedInputs(recorded));
    if ('error' in generated) return { id, result: { error: generated.error, reason: generated.reason } };
    return { id, result: { applications: generated.applications } };
  } catch (error) {
    if (error instanceof NotRendered) return { id, result: { error: error.message, reason: NOT_RENDERED } };
    throw error;
  }
}

function renderTemplateCase({
  id,
  engine,
  template,
  params = {},
  options = [],
  stringMaps = [],
}: TemplateCase): CaseOutput {
  const data = withStringMaps(params, '', stringMaps);
  try {
    const output =
      engine === 'go' ? renderGoTemplate(template, data, options) : renderFastTemplate(template, data);
    return { id, output };
  } catch (error) {
    if (error instanceof TemplateError) return { id, error: error.message };
    throw error;
  }
}

function withStringMaps(
  params: Readonly<Record<string, TemplateValue>>,
  prefix: string,
  stringMaps: readonly string[],
): Record<string, TemplateValue> {
  return Object.fromEntries(
    Object.entries(params).map(([key, value]) => {
      const path = `${prefix}${key}`;
      if (stringMaps.includes(path)) return [key, new StringMap(value as Record<string, string>)];
      const isParent = stringMaps.some((name) => name.startsWith(`${path}.`));
      return [
        key,
        isParent ? withStringMaps(value as Record<string, TemplateValue>, `${path}.`, stringMaps) : value,
      ];
    }),
  );
}

const LONG_NUMBER = /[0-9]{16}/;

/** Integers in decisions are Go's int64, for which JSON.parse would lose digits. */
function withExactIntegers(recorded: RecordedCase, line: string): RecordedCase {
  if (recorded.decisions === undefined || !LONG_NUMBER.test(line)) return recorded;
  const parsed = parseFirstJson(line);
  if ('problem' in parsed || parsed.node.kind !== 'object') return recorded;
  const node = parsed.node.entries.find(([key]) => key === 'decisions')?.[1];
  if (node === undefined) return recorded;
  return { ...recorded, decisions: exactValue(node) as NonNullable<RecordedCase['decisions']> };
}

function exactValue(node: JsonNode): unknown {
  if (node.kind === 'array') return node.items.map(exactValue);
  if (node.kind === 'object')
    return Object.fromEntries(node.entries.map(([key, item]) => [key, exactValue(item)]));
  if (node.kind !== 'number' || !/^-?\d{16,}$/.test(node.text)) return toJsonValue(node);
  const value = BigInt(node.text);
  return BigInt.asIntN(64, value) === value ? value : Number(node.text);
}

/**
 * A line of recorded cases: an ApplicationSet, and the objects and plugin responses with which Argo
 * CD rendered it.
 */
export interface RecordedCase {
  readonly id: string;
  readonly applicationSet: JsonValue;
  readonly clusters?: readonly ClusterSecret[];
  readonly configMaps?: readonly NamedData[];
  readonly secrets?: readonly NamedData[];
  readonly decisions?: readonly RecordedDecision[];
  readonly plugin?: readonly { readonly request: PluginRequest; readonly response: PluginResponse }[];
}

interface NamedData {
  readonly name: string;
  readonly data?: Readonly<Record<string, string>>;
}

interface RecordedDecision extends DecisionObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: DecisionObject['metadata'] & { readonly namespace?: string };
}

const NAMESPACE = 'argocd';

/** Resources that the recording cluster always served. */
const OCM_DECISIONS = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  resource: 'placementdecisions',
};

/** The inputs of a recorded case, with the recorded plugin responses. */
export function recordedInputs({
  clusters,
  configMaps,
  secrets,
  decisions,
  plugin,
}: RecordedCase): GeneratorInputs {
  const dataOf = (objects: readonly NamedData[] | undefined, name: string) => {
    const object = objects?.find((candidate) => candidate.name === name);
    return object === undefined ? undefined : (object.data ?? {});
  };
  return {
    namespace: NAMESPACE,
    clusters: clusters ?? [],
    configMap: (name) => dataOf(configMaps, name),
    secret: (name) => dataOf(secrets, name),
    resources: (apiVersion, resource) => {
      const ofKind = (decisions ?? []).filter(
        (object) => object.apiVersion === apiVersion && `${object.kind.toLowerCase()}s` === resource,
      );
      const isServed =
        ofKind.length > 0 || (apiVersion === OCM_DECISIONS.apiVersion && resource === OCM_DECISIONS.resource);
      if (!isServed) return undefined;
      return ofKind
        .filter(({ metadata }) => (metadata.namespace ?? NAMESPACE) === NAMESPACE)
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    },
    callPlugin: ({ method, host, path, body }) => {
      const recorded = plugin?.find(
        ({ request }) =>
          request.method === method &&
          request.host === host &&
          request.path === path &&
          request.body === body,
      );
      if (recorded !== undefined) return recorded.response;
      throw new NotRendered(
        `no response is recorded for ${method} http://${host}${path} with the body ${body.trim()}`,
      );
    },
  };
}
