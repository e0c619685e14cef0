import type { TypedObject } from './typed/typed-value.ts';
import { type ApplicationJson, ApplicationRenderer } from './application-renderer.ts';
import { GenerateError, GoPanic } from './failure/failures.ts';
import type { GeneratorContext } from './generators/generator-context.ts';
import { transform, type Transformed } from './generators/transform.ts';
import type { JsonValue } from './json/json-value.ts';
import type { Params } from './params/params.ts';
import { type ApplicationSet, readApplicationSet } from './read-application-set.ts';
import type { GeneratorInputs } from './inputs/generator-inputs.ts';

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
