import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorText, InputError } from '@berth/runtime/errors';
import yaml from 'js-yaml';
import { z } from 'zod';

/** One agent of a process: a managed cluster, and the hub that it works with or registers at. */
export type AgentPair = JoinedPair | RegisteringPair;

/** The cluster is registered already; the agent only applies works. */
export interface JoinedPair {
  readonly clusterName: string;
  readonly hubKubeconfig: string;
  /** Absent: KUBECONFIG, ~/.kube/config, or else the cluster that the agent runs in. */
  readonly kubeconfig?: string | undefined;
  readonly agentId?: string | undefined;
}

/** The agent registers the cluster, and applies its works when the hub has accepted it. */
export interface RegisteringPair {
  /** One hub, or several of which one is used at a time. */
  readonly bootstrapKubeconfigs: readonly string[];
  readonly credentials: CredentialPlace;
  /** Absent: the stored name, otherwise a random one. */
  readonly clusterName?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly agentId?: string | undefined;
}

const text = z.string().min(1);
const COMMON = { kubeconfig: text.optional(), agentId: text.optional() };
const ENTRY = z.union([
  z.strictObject({ ...COMMON, clusterName: text, hubKubeconfig: text }),
  z.strictObject({
    ...COMMON,
    clusterName: text.optional(),
    bootstrapKubeconfig: z.union([text, z.array(text).min(1)]),
    hubKubeconfigDir: text,
  }),
  z.strictObject({
    ...COMMON,
    clusterName: text.optional(),
    bootstrapKubeconfig: z.union([text, z.array(text).min(1)]),
    hubKubeconfigSecret: text,
    hostingKubeconfig: text.optional(),
  }),
]);
const FILE = z.array(ENTRY).min(1);

/**
 * Reads a list of agents from a YAML or JSON file. Paths in it are relative to the file.
 * @throws InputError that names the file, the entry and the field
 */
export async function readAgentPairs(file: string): Promise<readonly AgentPair[]> {
  const fail = (problem: string, cause?: unknown): InputError =>
    new InputError(problem, {
      code: 'agent.pairs',
      subject: file,
      hint:
        'a list of {clusterName, hubKubeconfig, kubeconfig?, agentId?}, or to register the cluster ' +
        '{bootstrapKubeconfig, hubKubeconfigDir or hubKubeconfigSecret, clusterName?, kubeconfig?, agentId?}; see docs/agent.md',
      cause,
    });
  let value: unknown;
  try {
    value = yaml.load(await readFile(file, 'utf8'), { schema: yaml.CORE_SCHEMA, filename: file });
  } catch (error) {
    throw fail(`cannot be read: ${errorText(error)}`, error);
  }
  const parsed = FILE.safeParse(value);
  if (!parsed.success) throw fail(issueText(parsed.error.issues));
  const base = dirname(file);
  const pairs = parsed.data.map((entry, index) => {
    const pair = pairOf(entry, (path) => resolve(base, path));
    if (pair === undefined) throw fail(`[${index}].hubKubeconfigSecret is not NAMESPACE/NAME`);
    return pair;
  });
  const seen = new Map<string, number>();
  for (const [index, pair] of pairs.entries()) {
    const identity = identityOf(pair);
    const before = seen.get(identity);
    if (before !== undefined)
      throw fail(`[${index}] ${duplicateText(pair)} [${before}]: one agent per cluster and hub`);
    seen.set(identity, index);
  }
  return pairs;
}

type Entry = z.infer<typeof ENTRY>;

function pairOf(entry: Entry, absolute: (path: string) => string): AgentPair | undefined {
  const kubeconfig = entry.kubeconfig === undefined ? {} : { kubeconfig: absolute(entry.kubeconfig) };
  const agentId = entry.agentId === undefined ? {} : { agentId: entry.agentId };
  if ('hubKubeconfig' in entry)
    return {
      clusterName: entry.clusterName,
      hubKubeconfig: absolute(entry.hubKubeconfig),
      ...kubeconfig,
      ...agentId,
    };
  const credentials: CredentialPlace | undefined =
    'hubKubeconfigDir' in entry
      ? { kind: 'folder', path: absolute(entry.hubKubeconfigDir) }
      : secretPlace(
          entry.hubKubeconfigSecret,
          entry.hostingKubeconfig === undefined ? undefined : absolute(entry.hostingKubeconfig),
        );
  if (credentials === undefined) return undefined;
  const { clusterName } = entry;
  return {
    bootstrapKubeconfigs: [entry.bootstrapKubeconfig].flat().map(absolute),
    credentials,
    ...(clusterName === undefined ? {} : { clusterName }),
    ...kubeconfig,
    ...agentId,
  };
}

function identityOf(pair: AgentPair): string {
  return 'hubKubeconfig' in pair
    ? `${pair.hubKubeconfig} ${pair.clusterName}`
    : JSON.stringify({ ...pair.credentials, of: pair.kubeconfig });
}

function duplicateText(pair: AgentPair): string {
  return 'hubKubeconfig' in pair
    ? `names ${pair.clusterName} of the same hub as`
    : 'stores its credentials in the same place as';
}

function issueText(issues: readonly z.core.$ZodIssue[]): string {
  const [issue] = issues;
  // For a union, the error of the alternative that is closest to the entry.
  const inner =
    issue?.code === 'invalid_union'
      ? [...issue.errors].sort((a, b) => a.length - b.length)[0]?.[0]
      : undefined;
  const path = [...(issue?.path ?? []), ...(inner?.path ?? [])];
  const fieldPath = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return `${fieldPath === '' ? 'the file' : fieldPath}: ${(inner ?? issue)?.message ?? 'is not as expected'}`;
}

/** Where the agent stores its certificate and key. */
export type CredentialPlace =
  | { readonly kind: 'folder'; readonly path: string }
  | {
      readonly kind: 'secret';
      readonly namespace: string;
      readonly name: string;
      /** Kubeconfig of the cluster with the Secret. Absent: the managed cluster. */
      readonly hostingKubeconfig?: string | undefined;
    };

/**
 * @param place `NAMESPACE/NAME`
 * @returns undefined for any other text
 */
export function secretPlace(
  place: string,
  hostingKubeconfig: string | undefined,
): CredentialPlace | undefined {
  const [namespace = '', name = '', ...more] = place.split('/');
  if (namespace === '' || name === '' || more.length > 0) return undefined;
  return { kind: 'secret', namespace, name, hostingKubeconfig };
}
