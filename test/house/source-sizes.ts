import type { Size } from './limits.ts';

export interface SourceFile {
  readonly path: string;
  readonly lines: number;
  /** Lines that are not empty. */
  readonly filled: number;
}

interface SourceSizes {
  readonly SMALL_LINES: number;
  readonly sourceSizes: () => readonly SourceFile[];
  readonly packageSizes: (files: readonly SourceFile[]) => Readonly<Record<string, Required<Size>>>;
}

const { href } = new URL('../../scripts/source-sizes.mjs', import.meta.url);
export const { SMALL_LINES, sourceSizes, packageSizes } = (await import(
  /* @vite-ignore */ href
)) as SourceSizes;
