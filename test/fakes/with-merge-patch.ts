import type { KubeApi } from '@berth/kube/model/kube-api';

/** The API with another `mergePatch`. */
export function withMergePatch(api: KubeApi, mergePatch: KubeApi['mergePatch']): KubeApi {
  return new Proxy(api, {
    get: (target, name) => {
      if (name === 'mergePatch') return mergePatch;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
