import type { Clock } from '@berth/runtime/clock/clock';
import type { Revocations } from './tokens/revocations.ts';
import type { TokenFile } from './tokens/token-file.ts';

/** Well below the 5 s in which a revoked credential must stop working. */
const CHECK_EVERY_MS = 2_000;

/**
 * Polls the files of tokens and revocations, and calls back when they changed. The returned
 * function stops it.
 */
export function watchCredentialFiles(
  { tokens, revocations }: { readonly tokens: TokenFile; readonly revocations: Revocations },
  clock: Clock,
  onChange: () => void,
): () => void {
  const revisions = (): string => `${tokens.revision} ${revocations.revision}`;
  let lastRevisions = revisions();
  let cancel: () => void;
  const check = (): void => {
    tokens.check();
    revocations.check();
    const found = revisions();
    if (found !== lastRevisions) onChange();
    lastRevisions = found;
    cancel = clock.schedule(CHECK_EVERY_MS, check);
  };
  cancel = clock.schedule(CHECK_EVERY_MS, check);
  return () => cancel();
}
