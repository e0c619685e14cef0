import type { KubeObject } from '@berth/kube/model/object-meta';

/** The result of applying one manifest. */
export type ApplyOutcome =
  | { readonly kind: 'applied'; readonly object: KubeObject | undefined; readonly wrote: boolean }
  | {
      readonly kind: 'failed';
      readonly problem: string;
      readonly ignoreField: boolean;
      /** `soon`: with growing delay. `minute`: rights may be granted. `never`: until something changes. */
      readonly retry: 'soon' | 'minute' | 'never';
      /** The object was changed concurrently: retry immediately. */
      readonly conflict: boolean;
      /** The namespace that the object is to be in, when the cluster does not have it. */
      readonly missingNamespace?: string | undefined;
    };
