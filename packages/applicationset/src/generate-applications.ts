import { StringMap } from '@berth/go-template/values';
import { type ApplicationJson, ApplicationRenderer } from './application-renderer.ts';
import { GenerateError, GoPanic, withPrefix } from './failure/failures.ts';
import { generateClusterDecisions } from './generators/cluster-decisions.ts';
import { generateClusters } from './generators/clusters.ts';
import type { GeneratorContext } from './generators/generator-context.ts';
import { asGenerator, type GenerateChild } from './generators/nested-generator.ts';
import { generatePlugin } from './generators/plugin.ts';
import type { GeneratorInputs } from './inputs/generator-inputs.ts';
import { goJsonText, RawJson } from './json/go-json-text.ts';
import { type JsonValue, setKey } from './json/json-value.ts';
import { parseYamlAsGo } from './json/parse-go-json.ts';
import {
  combineStringMaps,
  flattenParams,
  goText,
  mergeParams,
  type Params,
  type ParamValue,
  toParams,
} from './params/params.ts';
import { type ApplicationSet, readApplicationSet } from './read-application-set.ts';
import { matchesAll, POST_SELECTOR, requirementsOf } from './selector/requirement.ts';
import { kindOf } from './typed/decode-typed.ts';
import { fillEmpty } from './typed/encode-typed.ts';
import { renderKnownValues, renderTyped } from './typed/render-typed.ts';
import { TEMPLATE } from './types/application-types.ts';
import { GENERATOR } from './types/generator-types.ts';
import type { TypedObject } from './types/go-type.ts';

const YAML_PREFIX = 'error unmarshling decoded ElementsYaml';

/** The kinds of generators, in the order of the fields in Argo CD. */
const KINDS: readonly (readonly [string, Generate])[] = [
  ['list', generateList],
  ['clusters', generateClusters],
  ['clusterDecisionResource', generateClusterDecisions],
  ['matrix', generateMatrix],
  ['merge', generateMerge],
  ['plugin', generatePlugin],
];

export type Generated =
  | {
      readonly applications: readonly ApplicationJson[];
      /** The parameter sets of each generator of the ApplicationSet. */
      readonly parameters: readonly (readonly Params[])[];
    }
  | { readonly error: string; readonly reason: FailureReason };

/**
 * The reason of a failure. `Panic`: the code of Argo CD panics. The others are reasons of its
 * condition `ErrorOccurred`.
 */
export type FailureReason = 'ApplicationGenerationFromParamsError' | 'RenderTemplateParamsError' | 'Panic';

/**
 * The Applications that Argo CD generates from an ApplicationSet, as it writes them. If any part
 * fails, Argo CD generates no Application, and this returns why. Source: argo-cd
 * applicationset/controllers/template/template.go.
 * @throws NotRendered for what Berth does not render: generators that read repositories and forges
 */
export function generateApplications(applicationSet: JsonValue, inputs: GeneratorInputs): Generated {
  return new ApplicationGenerator(applicationSet).generate(inputs);
}

/**
 * Generates the Applications of one ApplicationSet for successive inputs of its generators. Equal
 * parameters are rendered once.
 */
export class ApplicationGenerator {
  readonly #set: ApplicationSet;
  #rendered: ReadonlyMap<string, ApplicationJson> = new Map();

  /** @throws NotRendered see `generateApplications` */
  constructor(applicationSet: JsonValue) {
    this.#set = readApplicationSet(applicationSet);
  }

  /** How many rendered Applications are kept for the next call. */
  get kept(): number {
    return this.#rendered.size;
  }

  /** @throws NotRendered see `generateApplications` */
  generate(inputs: GeneratorInputs): Generated {
    const run = new Run(this.#set, inputs, this.#rendered);
    try {
      return run.all();
    } catch (error) {
      if (error instanceof GoPanic) return { error: error.message, reason: 'Panic' };
      throw error;
    } finally {
      this.#rendered = run.rendered;
    }
  }
}

class Run {
  readonly #set: ApplicationSet;
  readonly #context: GeneratorContext;
  readonly #renderer: ApplicationRenderer;
  /** The Applications of the run before this one, by generator and parameters. */
  readonly #known: ReadonlyMap<string, ApplicationJson>;
  readonly rendered = new Map<string, ApplicationJson>();
  readonly #seen = new WeakSet<Params>();
  #failure: { readonly error: string; readonly reason: FailureReason } | undefined;

  constructor(set: ApplicationSet, inputs: GeneratorInputs, earlier: ReadonlyMap<string, ApplicationJson>) {
    this.#set = set;
    this.#known = earlier;
    this.#renderer = new ApplicationRenderer(set);
    this.#context = { applicationSet: set.name, mode: set.mode, inputs };
  }

  all(): Generated {
    const applications: ApplicationJson[] = [];
    const parameters: (readonly Params[])[] = [];
    for (const [index, generator] of this.#set.generators.entries()) {
      const transformed = this.#attempt('ApplicationGenerationFromParamsError', () =>
        transform(generator, this.#set.template, this.#context),
      );
      if (transformed === undefined) continue;
      parameters.push(transformed.flatMap(({ sets }) => sets));
      for (const [number, part] of transformed.entries())
        applications.push(...this.#render(part, `${index}.${number}`));
    }
    return this.#failure ?? { applications, parameters };
  }

  /** @param generatorId the index of the generator; its template is the same in every run */
  #render({ template, sets }: Transformed, generatorId: string): readonly ApplicationJson[] {
    return sets.flatMap((params) => {
      const application = this.#attempt('RenderTemplateParamsError', () =>
        this.#renderOnce(template, params, generatorId),
      );
      return application === undefined ? [] : [application];
    });
  }

  #renderOnce(template: TypedObject, params: Params, generatorId: string): ApplicationJson {
    // A template may change the maps in its parameters. If it gets the same parameters twice, it may
    // change the parameters themselves.
    const isPlain =
      !this.#seen.has(params) && Object.values(params).every((value) => typeof value === 'string');
    this.#seen.add(params);
    if (!isPlain) return this.#renderer.render(template, params);
    const key = `${generatorId} ${JSON.stringify(params)}`;
    const application = this.#known.get(key) ?? this.#renderer.renderWhenRead(template, params);
    this.rendered.set(key, application);
    return application;
  }

  #attempt<T>(reason: FailureReason, step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof GenerateError)) throw error;
      this.#failure ??= { error: error.message, reason };
      return undefined;
    }
  }
}

/** The result of one kind of generator: parameter sets and their template. */
interface Transformed {
  readonly sets: readonly Params[];
  readonly template: TypedObject;
}

type Generate = (generator: TypedObject, context: GeneratorContext, generateChild: GenerateChild) => Params[];

/**
 * The parameters of a generator, and its template with missing fields filled from the template of
 * the ApplicationSet. It continues after an error, because a later part may panic. Source: argo-cd
 * applicationset/generators/generator_spec_processor.go, `Transform`.
 * @param params the parameters of the first child of a matrix; the generator is rendered with them
 * @throws GenerateError the first error; GoPanic
 */
function transform(
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

/**
 * The list generator: its elements, plus those in `elementsYaml`. With goTemplate off, every value
 * of an element becomes text.
 * @throws GenerateError
 */
function generateList(generator: TypedObject, { mode }: GeneratorContext): Params[] {
  const elements = (generator['elements'] ?? []) as readonly RawJson[];
  const yaml = (generator['elementsYaml'] ?? '') as string;
  return [
    ...elements.map((element) => {
      const params = readElement(element);
      return mode.goTemplate ? params : textsOf(params);
    }),
    ...(yaml === '' ? [] : readElementsYaml(yaml)),
  ];
}

function readElement({ value, rewritten }: RawJson): Params {
  if (value === null && !rewritten)
    throw new GenerateError('error unmarshling list element unexpected end of JSON input');
  return asParams(value, 'error unmarshling list element json');
}

function asParams(value: JsonValue, prefix: string): Params {
  if (value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value))
    return toParams(value as { readonly [key: string]: JsonValue });
  throw new GenerateError(
    `${prefix}: cannot unmarshal ${kindOf(value)} into Go value of type map[string]interface {}`,
  );
}

function textsOf(element: Params): Params {
  const params: Params = {};
  for (const [key, value] of Object.entries(element)) {
    if (key !== 'values') setKey(params, key, asText(value));
    else if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new GenerateError('error parsing values map');
    else for (const [name, item] of Object.entries(value)) setKey(params, `values.${name}`, asText(item));
  }
  return params;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  // Argo CD wraps an error that is nil.
  throw new GenerateError('error parsing value as string %!w(<nil>)');
}

function readElementsYaml(yaml: string): readonly Params[] {
  const parsed = parseYamlAsGo(yaml);
  if (!parsed.ok) throw new GenerateError(`${YAML_PREFIX} error converting YAML to JSON: ${parsed.error}`);
  const prefix = `${YAML_PREFIX} error unmarshaling JSON: while decoding JSON: json`;
  const { value } = parsed;
  if (value === null) return [];
  if (!Array.isArray(value))
    throw new GenerateError(
      `${prefix}: cannot unmarshal ${kindOf(value)} into Go value of type []map[string]interface {}`,
    );
  return value.map((item: JsonValue) => asParams(item, prefix));
}

/**
 * The matrix generator. It combines every parameter set of the first child with every one of the
 * second child. The second child is rendered with the parameters of the first. In Go mode the
 * values of the first child win. Source: argo-cd applicationset/generators/matrix.go.
 * @throws GenerateError, GoPanic
 */
function generateMatrix(
  generator: TypedObject,
  { mode }: GeneratorContext,
  generateChild: GenerateChild,
): Params[] {
  const [first, second, ...more] = (generator['generators'] ?? []) as readonly TypedObject[];
  if (first === undefined || second === undefined)
    throw new GenerateError('found less than two generators, Matrix support only two');
  if (more.length > 0) throw new GenerateError('found more than two generators, Matrix support only two');
  const sets = withPrefix('error failed to get params for first generator in matrix generator', () =>
    generateChild(first),
  );
  return sets.flatMap((own) => {
    const others = withPrefix('failed to get params for second generator in the matrix generator', () =>
      generateChild(second, own),
    );
    return others.map((other) => {
      if (!mode.goTemplate)
        return withPrefix('failed to combine string maps with merging params for the matrix generator', () =>
          combineStringMaps(own, other),
        );
      const combined: Params = {};
      mergeParams(combined, other);
      mergeParams(combined, own);
      return combined;
    });
  });
}

/**
 * The merge generator. It overrides the parameter sets of the first child by those of the other
 * children that have the same values for the merge keys. Source: argo-cd
 * applicationset/generators/merge.go.
 * @throws GenerateError, GoPanic
 */
function generateMerge(
  generator: TypedObject,
  { mode }: GeneratorContext,
  generateChild: GenerateChild,
): Params[] {
  const children = (generator['generators'] ?? []) as readonly TypedObject[];
  const mergeKeys = (generator['mergeKeys'] ?? []) as readonly string[];
  if (children.length < 2)
    throw new GenerateError('found less than two generators, Merge requires two or more');
  const [baseSets = [], ...overrides] = withPrefix('error getting param sets from generators', () =>
    children.map((child, index) =>
      withPrefix(
        `error getting params from generator ${String(index + 1)} of ${String(children.length)}`,
        () => generateChild(child),
      ),
    ),
  );
  const byKey = (sets: readonly Params[]): Map<string, Params> =>
    withPrefix('error getting param sets by merge key', () => setsByMergeKey(mergeKeys, sets));
  const base = byKey(baseSets);
  for (const sets of overrides)
    for (const [key, override] of byKey(sets)) {
      const own = base.get(key);
      if (own === undefined) continue;
      if (mode.goTemplate) mergeParams(own, override);
      else for (const [name, value] of Object.entries(override)) setKey(own, name, value);
    }
  return [...base.values()];
}

function setsByMergeKey(mergeKeys: readonly string[], sets: readonly Params[]): Map<string, Params> {
  if (mergeKeys.length === 0)
    throw new GenerateError('no merge keys were specified, Merge requires at least one');
  const byKey = new Map<string, Params>();
  for (const params of sets) {
    const values: Record<string, JsonValue> = {};
    for (const key of mergeKeys) setKey(values, key, asJson(Object.hasOwn(params, key) ? params[key] : null));
    const text = goJsonText(values, true);
    if (byKey.has(text))
      throw new GenerateError(
        `the parameters from a generator were not unique by the given mergeKeys, Merge requires all param sets to be unique. Duplicate key was ${text}`,
      );
    byKey.set(text, params);
  }
  return byKey;
}

function asJson(value: ParamValue | undefined): JsonValue {
  if (value instanceof RawJson) return value.value;
  if (value instanceof StringMap) return value.entries;
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map((item: ParamValue) => asJson(item));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asJson(item)]));
}
