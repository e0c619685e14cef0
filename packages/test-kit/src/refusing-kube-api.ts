import { InputError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi, WatchEvent, WatchOptions } from '@berth/kube/model/kube-api';
import { InterceptedKubeApi } from './intercepted-kube-api.ts';

/** A KubeApi that answers 403 or 404 for as long as the test says so. */
export class RefusingKubeApi extends InterceptedKubeApi {
  /** What is refused: `verb resource[/subresource]`. */
  readonly refused = new Set<string>();
  readonly #code: 'kube.forbidden' | 'kube.notfound';

  constructor(inner: KubeApi, code: 'kube.forbidden' | 'kube.notfound') {
    super(inner);
    this.#code = code;
  }

  override async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    this.#check(`watch ${kind.plural}`);
    yield* this.inner.watch(kind, options);
  }

  protected override async read<T>(request: () => Promise<T>, right: string): Promise<T> {
    this.#check(right);
    return request();
  }

  protected override async write<T>(request: () => Promise<T>, right: string): Promise<T> {
    this.#check(right);
    return request();
  }

  #check(right: string): void {
    if (this.refused.has(right))
      throw new InputError(`the server refused to ${right}`, { code: this.#code, subject: right });
  }
}
