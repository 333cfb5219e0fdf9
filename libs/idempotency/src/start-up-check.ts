import { Injectable, Logger, type OnModuleInit, RequestMethod } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { type Registration, registrations } from './decorators/registration.js';
import { IdempotencyConfigurationError } from './errors/idempotency-configuration.error.js';
import { IdempotentHandlers } from './http/idempotent-handlers.js';
import { IDEMPOTENT_METADATA } from './idempotency.constants.js';
import { METHOD_METADATA, PATH_METADATA, SSE_METADATA } from './nest-metadata.js';

const SAFE_METHODS: ReadonlySet<unknown> = new Set([
  RequestMethod.GET,
  RequestMethod.HEAD,
  RequestMethod.OPTIONS,
]);

/** Stops the application rather than leave a handler unprotected. @internal */
@Injectable()
export class StartUpCheck implements OnModuleInit {
  private readonly logger = new Logger('Idempotency');

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly handlers: IdempotentHandlers,
  ) {}

  onModuleInit(): void {
    const controllers = classesOf(this.discovery.getControllers());
    const others = classesOf(this.discovery.getProviders()).filter(
      (provider) => !controllers.includes(provider),
    );
    others.forEach((provider) => this.checkProvider(provider));
    controllers.forEach((controller) => this.checkController(controller));
  }

  /** Gateways, resolvers and consumers have no HTTP response to record. */
  private checkProvider(provider: Function): void {
    const registration = registrationsOf(provider)[0];
    if (registration || Reflect.hasMetadata(IDEMPOTENT_METADATA, provider)) {
      const name = registration ? `${provider.name}.${registration.methodName}` : provider.name;
      throw new IdempotencyConfigurationError(
        `@Idempotent() on ${name} has no effect: ${provider.name} is not a controller. It serves HTTP route ` +
          `handlers; take it off this class.`,
      );
    }
  }

  private checkController(controller: Function): void {
    for (const registration of registrationsOf(controller)) {
      this.checkMethod(controller, registration.methodName, registration);
    }
    if (Reflect.hasMetadata(IDEMPOTENT_METADATA, controller)) {
      this.checkOverrides(controller);
    }
  }

  private checkMethod(controller: Function, methodName: string, registration: Registration): void {
    const name = `${controller.name}.${methodName}`;
    const method = methodOf(controller, methodName);
    const found = method && (Reflect.getMetadata(IDEMPOTENT_METADATA, method) as Registration | undefined);
    if (!method || !found) {
      if (isOverridden(controller, registration)) {
        return this.checkOverride(name, method);
      }
      throw new IdempotencyConfigurationError(
        `Another decorator above @Idempotent() on ${name} replaced the method without its metadata, so it would run ` +
          `unprotected. Put @Idempotent() above that decorator.`,
      );
    }
    this.checkRoute(name, method);
    this.resolve(name, controller, method);
  }

  private checkRoute(name: string, method: Function): void {
    if (Reflect.getMetadata(SSE_METADATA, method) !== undefined) {
      throw new IdempotencyConfigurationError(
        `@Idempotent() on ${name} cannot work: a stream of server-sent events (@Sse()) has no end to record. Take it off.`,
      );
    }
    if (Reflect.getMetadata(PATH_METADATA, method) === undefined) {
      throw new IdempotencyConfigurationError(
        `@Idempotent() on ${name} has no effect: it is not an HTTP route handler. Add @Post() or another route ` +
          `decorator, or take it off.`,
      );
    }
    if (SAFE_METHODS.has(Reflect.getMetadata(METHOD_METADATA, method))) {
      this.logger.warn(`@Idempotent() on ${name} does nothing: GET, HEAD and OPTIONS are never touched.`);
    }
  }

  private resolve(name: string, controller: Function, method: Function): void {
    try {
      this.handlers.resolve(controller, method);
    } catch (error) {
      if (error instanceof IdempotencyConfigurationError) {
        throw new IdempotencyConfigurationError(`${name}: ${error.message}`);
      }
      throw error;
    }
  }

  /** A class decorator wraps the methods that it sees; those of a subclass come later. */
  private checkOverrides(controller: Function): void {
    for (const methodName of Object.getOwnPropertyNames(controller.prototype)) {
      this.checkOverride(`${controller.name}.${methodName}`, methodOf(controller, methodName));
    }
  }

  private checkOverride(name: string, method: Function | undefined): void {
    const httpMethod: unknown = method && Reflect.getMetadata(METHOD_METADATA, method);
    const isCovered = httpMethod === RequestMethod.POST || httpMethod === RequestMethod.PATCH;
    if (method && isCovered && !Reflect.hasMetadata(IDEMPOTENT_METADATA, method)) {
      throw new IdempotencyConfigurationError(
        `${name} belongs to a class whose base is decorated with @Idempotent(), and would run unprotected. ` +
          `Decorate the method or its class too.`,
      );
    }
  }
}

function classesOf(wrappers: { metatype: unknown }[]): Function[] {
  const classes = wrappers
    .map(({ metatype }) => metatype)
    .filter((metatype) => typeof metatype === 'function');
  return [...new Set(classes as Function[])];
}

/** What was decorated on the class itself or on one that it inherits from. */
function registrationsOf(type: Function): Registration[] {
  return registrations.filter(
    ({ controller }) => type === controller || type.prototype instanceof controller,
  );
}

function methodOf(controller: Function, name: string): Function | undefined {
  const method: unknown = (controller.prototype as Record<string, unknown>)[name];
  return typeof method === 'function' ? method : undefined;
}

/** Whether a subclass has put a method of its own in the place of the decorated one. */
function isOverridden(controller: Function, { controller: owner, methodName }: Registration): boolean {
  return controller !== owner && methodOf(controller, methodName) !== methodOf(owner, methodName);
}
