import type { KeptMaps } from '@berth/go-template/to-go-value';
import { withPrefix } from './failure/failures.ts';
import type { JsonValue } from './json/json-value.ts';
import type { Params } from './params/params.ts';
import { checkOptions, replaceText } from './params/replace-text.ts';
import { applyTemplatePatch } from './patch/template-patch.ts';
import type { ApplicationSet } from './read-application-set.ts';
import { encodeTyped } from './typed/encode-typed.ts';
import { FixedParts } from './typed/fixed-parts.ts';
import { insertedParameters, MAX_SURE_LENGTH } from './typed/inserted-parameters.ts';
import { renderTyped } from './typed/render-typed.ts';
import type { TypedObject } from './typed/typed-value.ts';
import { APPLICATION } from './types/application-types.ts';

export type ApplicationJson = { readonly [key: string]: JsonValue };

const FINALIZER = 'resources-finalizer.argocd.argoproj.io';

/** A template without its spec, and the parameters that its texts insert; undefined if they do more than that. */
interface SureTemplate {
  readonly metadataOnly: TypedObject;
  readonly inserted: ReadonlySet<string> | undefined;
}

/** Renders the Applications of one ApplicationSet. */
export class ApplicationRenderer {
  readonly #set: ApplicationSet;
  /** Two parameter sets may share a map. Then a change by a template is visible in both. */
  readonly #kept: KeptMaps = new WeakMap();
  readonly #fixed = new FixedParts();
  readonly #sure = new WeakMap<TypedObject, SureTemplate>();

  constructor(set: ApplicationSet) {
    this.#set = set;
  }

  /** @throws GenerateError, GoPanic */
  render(template: TypedObject, params: Params): ApplicationJson {
    return this.#render(template, params, this.#kept);
  }

  #render(template: TypedObject, params: Params, kept: KeptMaps | undefined): ApplicationJson {
    const { mode, templatePatch, namespace } = this.#set;
    let application = this.#fromTemplate(template, params, kept);
    if (templatePatch !== undefined) {
      const patch = withPrefix('error replacing values in templatePatch', () => {
        checkOptions(mode);
        return replaceText(templatePatch, params, mode, kept);
      });
      application = applyTemplatePatch(application, patch);
    }
    const metadata = { ...(application['metadata'] as TypedObject | undefined), namespace };
    return encodeTyped(APPLICATION, { ...application, metadata }, this.#fixed);
  }

  /**
   * The same, but a spec that cannot fail is rendered when it is first read. Of thousands of Applications, a plan reads the
   * names, and the specs of those that change.
   * @throws GenerateError, GoPanic
   */
  renderWhenRead(template: TypedObject, params: Params): ApplicationJson {
    const { metadataOnly, inserted } = this.#sureTemplate(template);
    if (inserted === undefined || !hasShortTexts(params, inserted)) return this.render(template, params);
    // Its texts change no parameters. What others change in them comes later, and must not be seen.
    const { metadata } = this.#render(metadataOnly, params, undefined);
    let spec: JsonValue | undefined;
    const render = (): JsonValue => (spec ??= this.#render(template, params, undefined)['spec'] as JsonValue);
    return {
      metadata: metadata as JsonValue,
      get spec() {
        return render();
      },
    };
  }

  #sureTemplate(template: TypedObject): SureTemplate {
    let sure = this.#sure.get(template);
    if (sure === undefined) {
      const { mode, templatePatch } = this.#set;
      const inserted = templatePatch === undefined ? insertedParameters(template, mode) : undefined;
      const { metadata } = template;
      this.#sure.set(template, (sure = { metadataOnly: { metadata }, inserted }));
    }
    return sure;
  }

  /** Without parameters, the Application is the unchanged template and gets no finalizer. */
  #fromTemplate(template: TypedObject, params: Params, kept: KeptMaps | undefined): TypedObject {
    if (Object.keys(params).length === 0) return template;
    const { mode } = this.#set;
    const fixed = this.#fixed;
    const rendered = renderTyped(APPLICATION, template, { params, mode, kept, fixed });
    const metadata = rendered['metadata'] as TypedObject;
    const finalizers = (metadata['finalizers'] ?? []) as readonly string[];
    if (finalizers.length > 0 || this.#set.preserveResources) return rendered;
    return { ...rendered, metadata: { ...metadata, finalizers: [FINALIZER] } };
  }
}

function hasShortTexts(params: Params, names: ReadonlySet<string>): boolean {
  for (const name of names) {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (typeof value !== 'string' || value.length > MAX_SURE_LENGTH) return false;
  }
  return true;
}
