import { LISTED_KIND } from '../../../core/sync/applied/applied-kinds.ts';
import { wrongValue } from './wrong-option.ts';

/** @throws InputError for a value of `--kind` that names no kind */
export function checkListedKinds(kinds: readonly string[]): void {
  for (const kind of kinds)
    if (!LISTED_KIND.test(kind)) throw wrongValue('--kind', kind, 'GROUP/KIND, /KIND, GROUP/* or *');
}
