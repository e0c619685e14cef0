import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { errorText, InputError } from '@berth/runtime/errors';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { WhatIf } from '../../../../core/preview/what-if/apply-what-if.ts';
import type { WhatIfFlag } from '../../../../core/preview/what-if/parse-what-if.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { collectValues } from './settings-sources.ts';

/** Flags for assumptions. Each may be repeated. They apply in the order of this list. */
export interface WhatIfFlags extends Readonly<Record<WhatIfFlag, readonly string[]>> {
  readonly addCluster: readonly string[];
}

const FLAGS: readonly (readonly [flag: WhatIfFlag, argument: string, help: string])[] = [
  ['label', 'cluster:key=value', 'assume that a cluster has this label; `key-` removes it'],
  ['claim', 'cluster:name=value', 'assume that a cluster has this claim; `name-` removes it'],
  ['score', 'cluster:resource/score=value', 'assume that a cluster has this score of an add-on'],
  ['taint', 'cluster:key[=value][:effect]', 'assume that a cluster has this taint (effect: NoSelect)'],
  ['drain', 'cluster', 'assume that a cluster is drained: nothing may stay on it'],
  [
    'lose',
    'cluster',
    'assume that a cluster is gone; `region=eu` means all clusters with this label or claim',
  ],
];

export function addWhatIfFlags(command: Command): Command {
  command.option(
    '--add-cluster <file>',
    'assume that the ManagedClusters in this file exist',
    collectValues,
    [],
  );
  for (const [flag, argument, help] of FLAGS)
    command.option(`--${flag} <${argument}>`, `${help}; may be repeated`, collectValues, []);
  return command;
}

export function hasWhatIf(flags: WhatIfFlags): boolean {
  return flags.addCluster.length > 0 || FLAGS.some(([flag]) => flags[flag].length > 0);
}

/** @throws InputError for a value that cannot be parsed */
export async function readWhatIf(io: CliIo, flags: WhatIfFlags): Promise<readonly WhatIf[]> {
  if (!hasWhatIf(flags)) return [];
  const { parseWhatIf } = await import('../../../../core/preview/what-if/parse-what-if.ts');
  const added: WhatIf[] = [];
  for (const file of flags.addCluster)
    for (const cluster of await readClusters(path.resolve(io.cwd, file), file))
      added.push({ text: `--add-cluster ${file}`, assumption: { kind: 'add-cluster', cluster } });
  const others = FLAGS.flatMap(([flag]) => flags[flag].map((value) => parseWhatIf(flag, value)));
  return [...added, ...others];
}

async function readClusters(full: string, file: string): Promise<readonly ManagedCluster[]> {
  const { parseManifests } = await import('../../../../adapters/yaml/parse-manifests.ts');
  const fail = (problem: string, cause?: unknown): InputError =>
    new InputError(problem, { code: 'plan.add-cluster', subject: `--add-cluster ${file}`, cause });
  const text = await readFile(full, 'utf8').catch((cause: unknown) => {
    throw fail(`cannot be read: ${errorText(cause)}`, cause);
  });
  const { manifests, problems } = parseManifests({ file, text });
  const error = problems.find(({ severity }) => severity === 'error');
  if (error !== undefined)
    throw new InputError(error.message, {
      code: error.code,
      subject: `--add-cluster ${file}`,
      location: error.location,
    });
  const clusters = manifests.filter(({ object }) => object.kind === 'ManagedCluster');
  if (clusters.length === 0) throw fail('the file has no ManagedCluster');
  return clusters.map(({ object }) => object as unknown as ManagedCluster);
}
