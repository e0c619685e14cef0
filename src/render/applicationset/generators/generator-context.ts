import type { TemplateMode } from '../params/replace-text.ts';
import type { World } from '../world/world.ts';

/** What a generator needs in addition to its own fields. */
export interface GeneratorContext {
  readonly applicationSet: string;
  readonly mode: TemplateMode;
  readonly world: World;
}
