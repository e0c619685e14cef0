import type { TypedObject } from './typed/typed-value.ts';
import type { KeptMaps } from '../template/to-go-value.ts';
import { GenerateError, GoPanic, withPrefix } from './failure/failures.ts';
import type { GeneratorContext } from './generators/generator-context.ts';
import { transform, type Transformed } from './generators/transform.ts';
import type { JsonValue } from './json/json-value.ts';
import type { Params } from './params/params.ts';
import { applyTemplatePatch } from './patch/template-patch.ts';
import { checkOptions, replaceText } from './params/replace-text.ts';
import { encodeTyped } from './typed/encode-typed.ts';
import { FixedParts } from './typed/fixed-parts.ts';
import { renderTyped } from './typed/render-typed.ts';
import { APPLICATION } from './types/application-types.ts';
import { type ApplicationSet, readApplicationSet } from './read-application-set.ts';
import type { GeneratorInputs } from './inputs/generator-inputs.ts';

export type ApplicationJson = { readonly [key: string]: JsonValue };

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

const FINALIZER = 'resources-finalizer.argocd.argoproj.io';

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
  /** Two parameter sets may share a map. Then a change by a template is visible in both. */
  readonly #kept: KeptMaps = new WeakMap();
  readonly #fixed = new FixedParts();
  /** The Applications of the run before this one, by generator and parameters. */
  readonly #known: ReadonlyMap<string, ApplicationJson>;
  readonly rendered = new Map<string, ApplicationJson>();
  readonly #seen = new WeakSet<Params>();
  #failure: { readonly error: string; readonly reason: FailureReason } | undefined;

  constructor(set: ApplicationSet, inputs: GeneratorInputs, earlier: ReadonlyMap<string, ApplicationJson>) {
    this.#set = set;
    this.#known = earlier;
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
    if (!isPlain) return this.#application(template, params);
    const key = `${generatorId} ${JSON.stringify(params)}`;
    const application = this.#known.get(key) ?? this.#application(template, params);
    this.rendered.set(key, application);
    return application;
  }

  #application(template: TypedObject, params: Params): ApplicationJson {
    const { mode, templatePatch, namespace } = this.#set;
    let application = this.#fromTemplate(template, params);
    if (templatePatch !== undefined) {
      const patch = withPrefix('error replacing values in templatePatch', () => {
        checkOptions(mode);
        return replaceText(templatePatch, params, mode, this.#kept);
      });
      application = applyTemplatePatch(application, patch);
    }
    const metadata = { ...(application['metadata'] as TypedObject | undefined), namespace };
    return encodeTyped(APPLICATION, { ...application, metadata }, this.#fixed);
  }

  /** Without parameters, the Application is the unchanged template and gets no finalizer. */
  #fromTemplate(template: TypedObject, params: Params): TypedObject {
    if (Object.keys(params).length === 0) return template;
    const { mode } = this.#set;
    const rendered = renderTyped(APPLICATION, template, {
      params,
      mode,
      kept: this.#kept,
      fixed: this.#fixed,
    });
    const metadata = rendered['metadata'] as TypedObject;
    const finalizers = (metadata['finalizers'] ?? []) as readonly string[];
    if (finalizers.length > 0 || this.#set.preserveResources) return rendered;
    return { ...rendered, metadata: { ...metadata, finalizers: [FINALIZER] } };
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
