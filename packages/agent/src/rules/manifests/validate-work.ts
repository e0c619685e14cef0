import type { ManifestConfig, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { DEFAULT_MANIFEST_LIMIT_BYTES, excessiveSizeBytes } from '@berth/ocm/kind/manifest-config';

export interface WorkProblem {
  readonly code:
    | 'work.empty'
    | 'work.too-large'
    | 'work.manifest-kind'
    | 'work.manifest-name'
    | 'work.manifest-generate-name'
    | 'work.duplicate-manifest'
    | 'work.feedback-name'
    | 'work.condition-rule'
    | 'work.ignore-fields';
  /** Path inside the spec, e.g. `workload.manifests[2].metadata.name`. */
  readonly field: string;
  readonly message: string;
  /** Upstream's admission lets it pass although it cannot work: reported where people can still act. */
  readonly severity: 'error' | 'warning';
}

export interface ValidateWorkOptions {
  readonly limitBytes?: number | undefined;
}

/**
 * Errors: the problems that OCM's admission rejects in a ManifestWork, in its order, but all
 * instead of the first. Warnings: problems that it accepts although they break the work on the
 * cluster.
 */
export function validateWorkSpec(
  spec: ManifestWorkSpec | undefined,
  options: ValidateWorkOptions = {},
): readonly WorkProblem[] {
  const manifests = spec?.workload?.manifests ?? [];
  const problems: WorkProblem[] = [];
  if (manifests.length === 0)
    problems.push(error('work.empty', 'workload.manifests', 'manifests should not be empty'));
  const limit = options.limitBytes ?? DEFAULT_MANIFEST_LIMIT_BYTES;
  const sizeBytes = excessiveSizeBytes(manifests, limit);
  if (sizeBytes !== undefined)
    problems.push(
      error(
        'work.too-large',
        'workload.manifests',
        `the size of manifests is ${sizeBytes} bytes which exceeds the ${limit} limit`,
      ),
    );
  problems.push(...manifests.flatMap(validateManifest), ...findDuplicates(manifests));
  for (const [index, config] of (spec?.manifestConfigs ?? []).entries())
    problems.push(...validateConfig(config, `manifestConfigs[${index}]`));
  return problems;
}

function validateManifest(manifest: KubeObject, index: number): readonly WorkProblem[] {
  const field = `workload.manifests[${index}]`;
  const problems: WorkProblem[] = [];
  for (const key of ['apiVersion', 'kind'] as const)
    if (typeof manifest[key] !== 'string' || manifest[key] === '')
      problems.push(error('work.manifest-kind', `${field}.${key}`, `${key} must be set in manifest`));
  const metadata = manifest.metadata as KubeObject['metadata'] | undefined;
  if (typeof metadata?.name !== 'string' || metadata.name === '')
    problems.push(error('work.manifest-name', `${field}.metadata.name`, 'name must be set in manifest'));
  if (metadata?.generateName !== undefined && metadata.generateName !== '')
    problems.push(
      error(
        'work.manifest-generate-name',
        `${field}.metadata.generateName`,
        'generateName must not be set in manifest',
      ),
    );
  return problems;
}

function findDuplicates(manifests: readonly KubeObject[]): readonly WorkProblem[] {
  const seen = new Set<string>();
  const problems: WorkProblem[] = [];
  for (const [index, { apiVersion, kind, metadata }] of manifests.entries()) {
    const { namespace = '', name = '' } = (metadata as KubeObject['metadata'] | undefined) ?? {};
    const key = JSON.stringify([apiVersion, kind, namespace, name]);
    if (seen.has(key)) {
      const text = `duplicate manifest for resource ${namespace}/${name} with resource type ${apiVersion}.${kind}`;
      problems.push(error('work.duplicate-manifest', `workload.manifests[${index}]`, text));
    }
    seen.add(key);
  }
  return problems;
}

function validateConfig(config: ManifestConfig, field: string): readonly WorkProblem[] {
  const problems: WorkProblem[] = [];
  const names = new Set<string>();
  for (const rule of config.feedbackRules ?? [])
    for (const { name } of rule.jsonPaths ?? []) {
      if (names.has(name)) {
        const text = `feedback name "${name}" is used twice: the status of the work could not be written`;
        problems.push(warning('work.feedback-name', `${field}.feedbackRules`, text));
      }
      names.add(name);
    }
  for (const rule of config.conditionRules ?? [])
    if (RESERVED_CONDITIONS.has(rule.condition)) {
      const text = `condition rule "${rule.condition}" has the name of a condition of the agent's own`;
      problems.push(warning('work.condition-rule', `${field}.conditionRules`, text));
    }
  for (const ignore of config.updateStrategy?.serverSideApply?.ignoreFields ?? [])
    for (const pointer of ignore.jsonPointers ?? [])
      if (!pointer.startsWith('/')) {
        const text = `JSON pointer "${pointer}" must start with "/"`;
        problems.push(
          warning('work.ignore-fields', `${field}.updateStrategy.serverSideApply.ignoreFields`, text),
        );
      }
  return problems;
}

/** Conditions that the agent itself maintains. A rule of that name and the agent would overwrite each other. */
export const RESERVED_CONDITIONS: ReadonlySet<string> = new Set([
  'Applied',
  'Available',
  'Deleting',
  'StatusFeedbackSynced',
]);

function error(code: WorkProblem['code'], field: string, message: string): WorkProblem {
  return { code, field, message, severity: 'error' };
}

function warning(code: WorkProblem['code'], field: string, message: string): WorkProblem {
  return { code, field, message, severity: 'warning' };
}
