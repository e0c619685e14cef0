/** The version of Argo CD that the renderer follows; test/conformance/argocd compares it with recorded results. */
export const RENDERED_VERSION = '3.6.1';

/** A rule of rendering that older versions of Argo CD do not have. */
interface VersionedRule {
  /** The first version with the rule, as numbers. */
  readonly since: readonly [major: number, minor: number];
  readonly isUsed: (set: unknown) => boolean;
  /** What older versions do. */
  readonly note: string;
}

const FLATTENED = /^(metadata\.(labels|annotations)|values)\./;

const RULES: readonly VersionedRule[] = [
  {
    // Source: argo-cd applicationset/generators/generator_spec_processor.go, normalizeMapForFlatten.
    since: [3, 4],
    isUsed: (set) => isGoTemplate(set) && selectorKeys(set).some((key) => FLATTENED.test(key)),
    note: 'Argo CD before 3.4 does not see labels, annotations and values in the selector beside a generator of a goTemplate: NotIn and DoesNotExist let every cluster pass, In and Exists none',
  },
  {
    // Source: argo-cd applicationset/utils/template_functions.go, tplFun.
    since: [3, 6],
    isUsed: (set) => isGoTemplate(set) && /\{\{[^}]*\btpl\b/.test(JSON.stringify(set)),
    note: 'Argo CD before 3.6 does not have the function tpl: a template with it fails',
  },
  {
    // Source: argo-cd pkg/apis/application/v1alpha1/types.go, ApplicationSourceDirectory.
    since: [3, 6],
    isUsed: (set) => JSON.stringify(set).includes('"disableExtensionFilter"'),
    note: 'Argo CD before 3.6 drops the field directory.disableExtensionFilter',
  },
];

/**
 * Where an older version of Argo CD renders an ApplicationSet otherwise than `RENDERED_VERSION`.
 * @param version of the Argo CD that runs: major and minor; undefined: unknown, so every rule counts
 */
export function versionNotes(
  set: unknown,
  version: readonly [major: number, minor: number] | undefined,
): readonly string[] {
  return RULES.filter(
    ({ since, isUsed }) => (version === undefined || !isAtLeast(version, since)) && isUsed(set),
  ).map(({ note }) => note);
}

function isAtLeast(version: readonly [number, number], since: readonly [number, number]): boolean {
  return version[0] > since[0] || (version[0] === since[0] && version[1] >= since[1]);
}

function isGoTemplate(set: unknown): boolean {
  const { spec } = set as { readonly spec?: { readonly goTemplate?: unknown } };
  return spec?.goTemplate === true;
}

/** The keys of the selectors beside generators, at any depth; not those inside of generators. */
function selectorKeys(set: unknown): readonly string[] {
  return allGenerators(set).flatMap(({ selector }) => {
    const { matchLabels, matchExpressions } = (selector ?? {}) as {
      readonly matchLabels?: object;
      readonly matchExpressions?: readonly { readonly key?: unknown }[];
    };
    const listed = Array.isArray(matchExpressions) ? matchExpressions : [];
    return [...Object.keys(matchLabels ?? {}), ...listed.map(({ key }) => String(key))];
  });
}

function allGenerators(set: unknown): readonly Generator[] {
  const { spec } = set as { readonly spec?: { readonly generators?: unknown } };
  return generatorsOf(spec?.generators);
}

interface Generator {
  readonly selector?: unknown;
  readonly matrix?: { readonly generators?: unknown };
  readonly merge?: { readonly generators?: unknown };
}

function generatorsOf(list: unknown): readonly Generator[] {
  if (!Array.isArray(list)) return [];
  return (list as readonly Generator[]).flatMap((one) => [
    one,
    ...generatorsOf(one.matrix?.generators),
    ...generatorsOf(one.merge?.generators),
  ]);
}
