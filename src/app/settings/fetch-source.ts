import path from 'node:path';
import type { SourceContent } from '../../controllers/sources/manifests/source-content.ts';
import { openGitSource } from '../../controllers/sources/reading/git-source.ts';
import { serveSource, type SourceContext } from './serve-source.ts';
import type { SourceSettings } from './source-settings.ts';

export interface FetchContext extends SourceContext {
  readonly ambient: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * Fetches and reads a source like `berth serve`, and closes it after `use`. Throws the errors that
 * serve would report.
 */
export async function withFetchedSource<T>(
  settings: SourceSettings,
  context: FetchContext,
  use: (content: SourceContent) => Promise<T>,
): Promise<T> {
  // No commit status is reported to the forge.
  const { close, ...from } = serveSource({ ...settings, commitStatus: undefined }, context);
  const { dataDir, ambient, signal } = context;
  const source = await openGitSource({
    ...from,
    name: settings.name,
    mirrorDir: path.join(dataDir, 'git', settings.name),
    ambient,
  });
  try {
    const { commit } = await source.fetch({ signal });
    const answer = await use(await source.read(commit));
    await source.settle();
    return answer;
  } finally {
    await source.close();
    await close?.();
  }
}
