import type { JsonValue } from '../json/json-value.ts';

type JsonMap = { readonly [key: string]: JsonValue };

/**
 * The spec with which the controller creates an Application. It has a project, and it has no empty
 * sync policies or source options. Source: argo-cd util/argo/argo.go, `NormalizeApplicationSpec`.
 */
export function normalizeSpec(spec: JsonMap): JsonMap {
  const { syncPolicy, source, sources, project, ...rest } = spec;
  const hasSources = Array.isArray(sources) && sources.length > 0;
  return {
    ...rest,
    project: project === '' || project === undefined ? 'default' : project,
    ...(syncPolicy === undefined || isEmptyMap(syncPolicy) ? {} : { syncPolicy }),
    ...(source === undefined ? {} : { source: hasSources ? source : normalizeSource(source as JsonMap) }),
    ...(sources === undefined
      ? {}
      : {
          sources: hasSources ? sources.map((item: JsonValue) => normalizeSource(item as JsonMap)) : sources,
        }),
  };
}

/** Fields of kustomize that do not count if nothing else is set. */
const KUSTOMIZE_FLAGS = [
  'forceCommonLabels',
  'forceCommonAnnotations',
  'commonAnnotationsEnvsubst',
  'labelWithoutSelector',
  'labelIncludeTemplates',
];

function normalizeSource({ kustomize, helm, directory, ...rest }: JsonMap): JsonMap {
  return {
    ...rest,
    ...(kustomize === undefined || isEmptyMap(kustomize, KUSTOMIZE_FLAGS) ? {} : { kustomize }),
    ...(helm === undefined || isEmptyMap(helm) ? {} : { helm }),
    ...(directory === undefined || isEmptyMap(directory) ? {} : { directory }),
  };
}

function isEmptyMap(value: JsonValue, ignored: readonly string[] = []): boolean {
  return Object.keys(value as JsonMap).every((key) => ignored.includes(key));
}
