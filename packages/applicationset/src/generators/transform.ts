import { GenerateError, withPrefix } from '../failure/failures.ts';
import { flattenParams } from '../params/flatten-params.ts';
import { goText } from '../params/go-text.ts';
import type { Params } from '../params/params.ts';
import { matchesAll, POST_SELECTOR, requirementsOf } from '../selector/requirement.ts';
import { fillEmpty } from '../typed/fill-empty.ts';
import { renderKnownValues, renderTyped } from '../typed/render-typed.ts';
import type { TypedObject } from '../typed/typed-value.ts';
import { TEMPLATE } from '../types/application-types.ts';
import { GENERATOR } from '../types/generator-types.ts';
import { generateClusterDecisions } from './cluster-decisions.ts';
import { generateClusters } from './clusters.ts';
import type { GeneratorContext } from './generator-context.ts';
import { generateList } from './list.ts';
import { generateMatrix } from './matrix.ts';
import { generateMerge } from './merge.ts';
import { asGenerator, type GenerateChild } from './nested-generator.ts';
import { generatePlugin } from './plugin.ts';

/** The result of one kind of generator: parameter sets and their template. */
export interface Transformed {
  readonly sets: readonly Params[];
  readonly template: TypedObject;
}

type Generate = (generator: TypedObject, context: GeneratorContext, generateChild: GenerateChild) => Params[];

/** The kinds of generators, in the order of the fields in Argo CD. */
const KINDS: readonly (readonly [string, Generate])[] = [
  ['list', generateList],
  ['clusters', generateClusters],
  ['clusterDecisionResource', generateClusterDecisions],
  ['matrix', generateMatrix],
  ['merge', generateMerge],
  ['plugin', generatePlugin],
];

/**
 * The parameters of a generator, and its template with missing fields filled from the template of
 * the ApplicationSet. It continues after an error, because a later part may panic. Source: argo-cd
 * applicationset/generators/generator_spec_processor.go, `Transform`.
 * @param params the parameters of the first child of a matrix; the generator is rendered with them
 * @throws GenerateError the first error; GoPanic
 */
export function transform(
  generator: TypedObject,
  baseTemplate: TypedObject,
  context: GeneratorContext,
  params?: Params,
): readonly Transformed[] {
  const { selector } = generator;
  const requirements = withPrefix('error parsing label selector', () =>
    requirementsOf((selector ?? {}) as TypedObject, POST_SELECTOR),
  );
  const failures: GenerateError[] = [];
  const results = KINDS.flatMap(([kind, generate]): readonly Transformed[] => {
    if (generator[kind] === undefined) return [];
    try {
      const own = generator[kind] as TypedObject;
      const template = fillEmpty(TEMPLATE, (own['template'] ?? {}) as TypedObject, baseTemplate);
      const rendered = renderGenerator(generator, context, params)[kind] as TypedObject;
      const sets = generate(rendered, context, childrenOf(context));
      const kept =
        selector === undefined ? sets : sets.filter((set) => matchesAll(requirements, labelsOf(set)));
      return [{ sets: kept, template }];
    } catch (error) {
      if (!(error instanceof GenerateError)) throw error;
      failures.push(error);
      return [];
    }
  });
  const [first] = failures;
  if (first !== undefined) throw first;
  return results;
}

function renderGenerator(
  generator: TypedObject,
  { mode }: GeneratorContext,
  params: Params | undefined,
): TypedObject {
  if (params === undefined || Object.keys(params).length === 0) return generator;
  return withPrefix('failed to replace parameters in generator', () =>
    renderTyped(GENERATOR, generator, {
      params,
      mode,
      renderValues: (values) => renderKnownValues(values, params, mode),
    }),
  );
}

function labelsOf(params: Params): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(flattenParams(params, true)).map(([key, value]) => [key, goText(value)]),
  );
}

function childrenOf(context: GeneratorContext): GenerateChild {
  return (child, params) => {
    const generator = asGenerator(child);
    const results = withPrefix('child generator returned an error on parameter generation', () =>
      transform(generator, {}, context, params),
    );
    const [only, ...more] = results;
    if (only === undefined) throw new GenerateError('child generator generated no parameters');
    if (more.length > 0) throw new GenerateError('found more than one generator in matrix.Generators');
    return [...only.sets];
  };
}
