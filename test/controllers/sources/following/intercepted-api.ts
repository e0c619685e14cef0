import type { KubeApi } from '@berth/kube/model/kube-api';

/** The client, with a function that is called before each call, and may throw instead of it. */
export function interceptedApi(
  api: KubeApi,
  before: (method: string, args: readonly unknown[]) => void,
): KubeApi {
  return new Proxy<KubeApi>(api, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        before(String(name), args);
        return Reflect.apply(value, target, args);
      };
    },
  });
}
