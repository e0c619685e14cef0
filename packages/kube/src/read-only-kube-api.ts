import type { KubeApi } from './model/kube-api.ts';
import type { KubeObject } from './model/object-meta.ts';

/** The writes of a `KubeApi` that can only be read: each is refused. */
export abstract class ReadOnlyKubeApi {
  /** The error of a write. */
  protected abstract refused(): Error;

  create(): Promise<never> {
    return Promise.reject(this.refused());
  }

  update(): Promise<never> {
    return Promise.reject(this.refused());
  }

  mergePatch(): Promise<never> {
    return Promise.reject(this.refused());
  }

  apply(..._: Parameters<KubeApi['apply']>): Promise<KubeObject> {
    return Promise.reject(this.refused());
  }

  delete(): Promise<never> {
    return Promise.reject(this.refused());
  }
}
