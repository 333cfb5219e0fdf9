import { Idempotent } from '@exactly-once/nestjs';
import { Controller, Post, UploadedFile, UseInterceptors } from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';

@Controller('photos')
export class PhotosController {
  // #region upload
  @Post()
  @Idempotent()
  @UseInterceptors(FileInterceptor('photo'))
  upload(@UploadedFile() photo: { size: number }) {
    return { size: photo.size };
  }
  // #endregion
}
