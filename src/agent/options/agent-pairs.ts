import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import yaml from 'js-yaml';
import { z } from 'zod';
import { errorText, InputError } from '../../core/errors.ts';

/** One agent of a process: its cluster name, hub and managed cluster. */
export interface AgentPair {
  readonly clusterName: string;
  readonly hubKubeconfig: string;
  /** Absent: KUBECONFIG, ~/.kube/config, else the cluster this runs in. */
  readonly kubeconfig?: string | undefined;
  readonly agentId?: string | undefined;
}

const text = z.string().min(1);
const FILE = z
  .array(
    z.strictObject({
      clusterName: text,
      hubKubeconfig: text,
      kubeconfig: text.optional(),
      agentId: text.optional(),
    }),
  )
  .min(1);

/**
 * Reads a list of agents from a YAML or JSON file; paths in it are relative to the file.
 * @throws InputError that names the file, the entry and the field
 */
export async function readAgentPairs(file: string): Promise<readonly AgentPair[]> {
  const fail = (problem: string, cause?: unknown): InputError =>
    new InputError(problem, {
      code: 'agent.pairs',
      subject: file,
      hint: 'a list of {clusterName, hubKubeconfig, kubeconfig?, agentId?}; see docs/agent.md',
      cause,
    });
  let value: unknown;
  try {
    value = yaml.load(await readFile(file, 'utf8'), { schema: yaml.CORE_SCHEMA, filename: file });
  } catch (error) {
    throw fail(`cannot be read: ${errorText(error)}`, error);
  }
  const parsed = FILE.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = (issue?.path ?? [])
      .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
      .join('');
    throw fail(`${place === '' ? 'the file' : place}: ${issue?.message ?? 'is not as expected'}`);
  }
  const base = dirname(file);
  const pairs = parsed.data.map((pair) => ({
    ...pair,
    hubKubeconfig: resolve(base, pair.hubKubeconfig),
    ...(pair.kubeconfig === undefined ? {} : { kubeconfig: resolve(base, pair.kubeconfig) }),
  }));
  const seen = new Map<string, number>();
  for (const [index, { clusterName, hubKubeconfig }] of pairs.entries()) {
    const before = seen.get(`${hubKubeconfig} ${clusterName}`);
    if (before !== undefined)
      throw fail(
        `[${index}] names ${clusterName} of the same hub as [${before}]: one agent per cluster and hub`,
      );
    seen.set(`${hubKubeconfig} ${clusterName}`, index);
  }
  return pairs;
}
