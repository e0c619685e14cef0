import type { TemplateMode } from '../params/replace-text.ts';
import type { GeneratorInputs } from '../inputs/generator-inputs.ts';

/** What a generator needs in addition to its own fields. */
export interface GeneratorContext {
  readonly applicationSet: string;
  readonly mode: TemplateMode;
  readonly inputs: GeneratorInputs;
}
