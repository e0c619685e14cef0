import { InputError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { WatchEvent, WatchOptions } from '@berth/kube/model/kube-api';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';

/** A KubeApi that notes which rights its user needed and did not have: `verb resource[/subresource]`. */
export class AuditingKubeApi extends InterceptedKubeApi {
  readonly used = new Set<string>();
  readonly refused = new Set<string>();

  override async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    const right = `watch ${kind.plural}`;
    this.used.add(right);
    try {
      yield* this.inner.watch(kind, options);
    } catch (error) {
      throw this.#seen(right, error);
    }
  }

  protected override read<T>(request: () => Promise<T>, right: string): Promise<T> {
    return this.write(request, right);
  }

  protected override async write<T>(request: () => Promise<T>, right: string): Promise<T> {
    if (right !== '') this.used.add(right);
    return request().catch((error: unknown) => {
      throw this.#seen(right, error);
    });
  }

  #seen(right: string, error: unknown): unknown {
    if (error instanceof InputError && error.code === 'kube.forbidden') this.refused.add(right);
    return error;
  }
}
