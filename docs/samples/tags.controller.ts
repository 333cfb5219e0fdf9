import { Idempotent } from '@exactly-once/nestjs';
import { Body, Controller, Post } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryGeneratedColumn, QueryFailedError } from 'typeorm';

@Entity({ name: 'tags' })
export class Tag {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id: number;

  @Column({ type: 'text', unique: true })
  name: string;
}

@Controller('tags')
export class TagsController {
  constructor(private readonly dataSource: DataSource) {}

  // #region create
  @Post()
  @Idempotent()
  async create(@Body() body: { name: string }): Promise<Tag> {
    try {
      // A savepoint: when the INSERT fails, the request's transaction goes on.
      return await this.dataSource.transaction((manager) => manager.save(Tag, { name: body.name }));
    } catch (error) {
      if (error instanceof QueryFailedError) {
        return this.dataSource.getRepository(Tag).findOneByOrFail({ name: body.name });
      }
      throw error;
    }
  }
  // #endregion
}
