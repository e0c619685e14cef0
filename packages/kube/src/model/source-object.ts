import type { KubeObject } from './object-meta.ts';
import type { SourceLocation } from '@berth/runtime/problem/source-location';

/** An object as it is in a file, with the place where its document starts. */
export interface SourceObject<T extends { readonly metadata: unknown } = KubeObject> {
  readonly object: T;
  readonly location: SourceLocation;
}
