import type { OpenPreviews, PreviewDependencies } from './open-previews.ts';

/** Loads the code for planning only if pull requests are planned. */
export async function loadPreviews(parts: PreviewDependencies): Promise<OpenPreviews | undefined> {
  if (parts.options.sources.every(({ preview }) => preview === undefined)) return undefined;
  return (await import('./open-previews.ts')).openPreviews(parts);
}
